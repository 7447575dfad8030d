# What a binary is made of: sbom.spdx.json (SPDX 2.3), with the versions found when it was built. Licences are those the
# projects themselves give. Installed with the documentation, and so part of every release.
function(abut_package name version license source)
  string(APPEND ABUT_SPDX_PACKAGES ",
    {\"name\": \"${name}\", \"SPDXID\": \"SPDXRef-${name}\", \"versionInfo\": \"${version}\",
     \"licenseDeclared\": \"${license}\", \"licenseConcluded\": \"${license}\", \"copyrightText\": \"NOASSERTION\",
     \"downloadLocation\": \"${source}\", \"filesAnalyzed\": false}")
  string(APPEND ABUT_SPDX_RELATIONS ",
    {\"spdxElementId\": \"SPDXRef-abut\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"SPDXRef-${name}\"}")
  set(ABUT_SPDX_PACKAGES "${ABUT_SPDX_PACKAGES}" PARENT_SCOPE)
  set(ABUT_SPDX_RELATIONS "${ABUT_SPDX_RELATIONS}" PARENT_SCOPE)
endfunction()

abut_package(expat "${EXPAT_VERSION}" MIT https://libexpat.github.io)
abut_package(jansson "${JANSSON_VERSION}" MIT https://github.com/akheron/jansson)
abut_package(qhull "${QHULL_VERSION}" Qhull http://www.qhull.org)
abut_package(hdf5 "${HDF5_VERSION}" BSD-3-Clause-HDF5 https://www.hdfgroup.org)
abut_package(zlib "${ZLIB_VERSION}" Zlib https://zlib.net)
# sweeps read TOML by a C++ library of headers
abut_package(libgcc "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" https://gcc.gnu.org)
abut_package(tomlplusplus NOASSERTION MIT https://marzer.github.io/tomlplusplus)
if(ABUT_HDF5_LINKS AND ABUT_SZ_LIBRARY)
  # HDF5's szip filter; as a shared library, of the system's version
  abut_package(libaec NOASSERTION BSD-2-Clause https://gitlab.dkrz.de/k202009/libaec)
endif()
if(ABUT_SPNAV)  # loaded when a SpaceMouse is asked for
  abut_package(libspnav "${SPNAV_VERSION}" BSD-3-Clause https://spacenav.sourceforge.net)
endif()
if(TARGET abut_view)  # loaded with the view of abut haptic
  abut_package(libwebsockets "${WEBSOCKETS_VERSION}" MIT https://libwebsockets.org)
endif()
file(READ ${CMAKE_SOURCE_DIR}/web/package.json text)
if(text MATCHES "\"three\": \"([0-9.]+)\"")
  abut_package(three "${CMAKE_MATCH_1}" MIT https://threejs.org)
endif()
string(TIMESTAMP ABUT_SPDX_CREATED "%Y-%m-%dT%H:%M:%SZ" UTC)  # SOURCE_DATE_EPOCH, if set
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/sbom.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
  "name": "abut-@PROJECT_VERSION@", "documentNamespace": "urn:abut:sbom:@PROJECT_VERSION@",
  "creationInfo": {"created": "@ABUT_SPDX_CREATED@", "creators": ["Tool: cmake/sbom.cmake"]},
  "packages": [
    {"name": "abut", "SPDXID": "SPDXRef-abut", "versionInfo": "@PROJECT_VERSION@",
     "licenseDeclared": "MIT", "licenseConcluded": "MIT", "copyrightText": "NOASSERTION",
     "downloadLocation": "NOASSERTION", "filesAnalyzed": false}@ABUT_SPDX_PACKAGES@],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-abut"}@ABUT_SPDX_RELATIONS@]
}
]])
install(FILES ${CMAKE_BINARY_DIR}/sbom.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
