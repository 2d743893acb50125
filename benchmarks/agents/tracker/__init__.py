"""A sample REST API: a tracker of projects and tickets on FastAPI, with 60 operations, its data in an SQLite file."""
