"""What has failed in steps, raised as an exception."""
from minidem.contact.law cimport LawKernels
from minidem.loop.loop cimport Loop
from minidem.rotation.scheme cimport Kernels


cdef object raise_failure(Loop *loop, Kernels kernels, LawKernels law_kernels, error, walls)
