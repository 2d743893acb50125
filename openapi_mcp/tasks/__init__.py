"""Operations that the API carries out in the background, followed to their end: as tasks where clients have them."""
