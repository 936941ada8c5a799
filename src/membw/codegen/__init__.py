"""What the compiler made of the kernels of a program: kind and width of their stores."""
