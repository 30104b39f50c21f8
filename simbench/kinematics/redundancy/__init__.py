"""Resolution of redundancy by weighted criteria (Tomić 2018, eq. 4.23)."""
