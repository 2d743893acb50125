"""A sample REST API: a pet store on Starlette, its data in an SQLite file."""
