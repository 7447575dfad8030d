# cmake -DIN=page.html -DOUT=page_html.c -P embed.cmake: the page as a C text, as bytes, so that any length
# will do; the page keeps to ASCII.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const char sweep_page_html[];\nconst char sweep_page_html[] = {\n${bytes}0};\n")
