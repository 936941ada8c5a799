"""`membw history`: what changed from night to night, now compared with before."""
