# make install: the library for CMake and pkg-config, and the image tool.
PREFIX ?= /usr/local
LIBDIR ?= lib
INSTALL_TO = $(DESTDIR)$(PREFIX)
FASTFFS_VERSION = $(shell sed -n 's/^\#define FFFS_VERSION_[A-Z]* \([0-9]*\)$$/\1/p' include/fastffs/fastffs.h | paste -sd.)
# A limit given in CFLAGS is part of the interface.
FASTFFS_DEFINITIONS = $(patsubst -D%,%,$(filter -DFFFS_%,$(CFLAGS)))
FASTFFS_CFLAGS = $(FASTFFS_DEFINITIONS:%= -D%)

.PHONY: install
install: lib tool ## library, headers, CMake and pkg-config files and the tool, to DESTDIR/PREFIX
	mkdir -p $(INSTALL_TO)/bin $(INSTALL_TO)/include/fastffs $(INSTALL_TO)/$(LIBDIR)/cmake/fastffs $(INSTALL_TO)/$(LIBDIR)/pkgconfig
	cp include/fastffs/*.h $(INSTALL_TO)/include/fastffs/
	cp $(LIB) $(INSTALL_TO)/$(LIBDIR)/
	cp $(BUILD)/fastffs $(INSTALL_TO)/bin/
	ln -sf fastffs $(INSTALL_TO)/bin/mkfastffs
	for file in fastffs-config.cmake fastffs-config-version.cmake fastffs.pc; do \
	  case $$file in *.pc) to=pkgconfig ;; *) to=cmake/fastffs ;; esac; \
	  sed -e 's/@FASTFFS_VERSION@/$(FASTFFS_VERSION)/; s/@FASTFFS_DEFINITIONS@/$(FASTFFS_DEFINITIONS)/' \
	    -e 's/@FASTFFS_CFLAGS@/$(FASTFFS_CFLAGS)/; s|@FASTFFS_LIBDIR@|$(LIBDIR)|' cmake/$$file.in \
	    >$(INSTALL_TO)/$(LIBDIR)/$$to/$$file || exit 1; \
	done
