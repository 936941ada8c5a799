/*
 * stream_f: the program with the loops of stream.f90.
 *
 *   gfortran -O2 -fopenmp stream.f90 stream_f.c -o stream_f.exe
 */
#define MEMBW_FORTRAN
#include "stream.c"

#if ELEMENT_IS != 8
#error "the loops of stream.f90 are of doubles: leave out -DSTREAM_TYPE"
#endif
