! stream: STREAM's four loops in Fortran, for the program that is otherwise C.
!
! Build: gfortran -O2 -fopenmp stream.f90 stream_f.c -o stream_f.exe
!
! stream_f.c is the whole program but for these loops: the same options, record, verdict
! and validation. Subroutine fortran_copy is the kernel copy of kernels/kernels.h, and so on; a
! kernel without one is measured in C. Fortran's dummy arguments do not overlap. The threads' parts are those of a static schedule: their borders
! lie up to a quarter as many cache lines from those of the first touch as there are threads.

subroutine fortran_copy(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    c(i) = a(i)
  end do
end subroutine

subroutine fortran_scale(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    b(i) = s * c(i)
  end do
end subroutine

subroutine fortran_add(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    c(i) = a(i) + b(i)
  end do
end subroutine

subroutine fortran_triad(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = b(i) + s * c(i)
  end do
end subroutine
