noinst_LTLIBRARIES += %D%/libmanager.la
%C%_libmanager_la_SOURCES =
