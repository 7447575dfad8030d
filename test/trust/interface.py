#!/usr/bin/python3
"""Writes calls of every function that the headers declare with arguments it should never get, one wrong at a time.

usage: interface.py HEADER_FOLDER OUT.c

A call is right but for one argument: NULL, another model's, an index or a number that makes no sense; or for one field of
a struct handed over. trust/interface.c runs them. A type or struct that is not known here stops the build: say below what is
right and what is wrong for it.
"""
import pathlib
import re
import sys

INTS = ["-1", "INT_MAX", "INT_MIN"]
DOUBLES = ["NAN", "INFINITY", "-1", "0", "1e308"]
TEXTS = ["NULL", '""', "f->long_text", r'"\xff%n%s/"']
# type: (right, wrong ones)
VALUES = {
    "abModel*": ("f->model", ["NULL", "f->other_model"]),
    "abData*": ("f->data", ["NULL", "f->other_data"]),
    "abScene*": ("f->scene", ["NULL", "f->other_scene"]),
    "abError*": ("&f->error", ["NULL"]),
    "abNotes*": ("&f->notes", ["NULL"]),
    "abRecorder*": ("f->recorder", ["NULL"]),
    "abRecording*": ("f->recording", ["NULL"]),
    "abPointer*": ("f->pointer", ["NULL"]),
    "abResponse*": ("f->response", ["NULL"]),
    "abContactModel*": ("ab_contact_model(0)", ["NULL"]),
    "abContactProblem*": ("NULL", []),  # only a step makes one
    "abRayHit*": ("&f->ray_hit", ["NULL"]), "abGeomDistance*": ("&f->distance", ["NULL"]),
    "abMat6*": ("&f->mat6", ["NULL"]),
    "abInverseContact*": ("&f->inverse_out", ["NULL"]),
    "abOverlapSummary*": ("&f->overlap", ["NULL"]),
    "int": ("0", INTS), "double": ("0.5", DOUBLES), "bool": ("true", []),
    "size_t": ("f->nblock", ["0", "1"]), "size_t*": ("&f->nblock", ["NULL"]),
    "void*": ("f->block", ["NULL"]), "unsigned char*": ("f->block", ["NULL"]),
    "double*": ("f->number_list", ["NULL"]),
    "char*": ("f->text", ["NULL"]),
    "abVec3": ("(abVec3){0, 0, 1}", ["(abVec3){NAN, 0, 0}", "(abVec3){0}", "(abVec3){1e308, 1e308, 1e308}"]),
    "abPose": ("(abPose){.q = {1, 0, 0, 0}}", ["(abPose){0}", "(abPose){{NAN, 0, 0}, {NAN, 0, 0, 0}}"]),
    "abTwist": ("(abTwist){0}", ["(abTwist){{NAN, 0, 0}, {INFINITY, 0, 0}}"]),
    "abWrench": ("(abWrench){0}", ["(abWrench){{NAN, 0, 0}, {INFINITY, 0, 0}}"]),
    "abAllocator": ("(abAllocator){malloc, realloc, free}", ["(abAllocator){0}", "(abAllocator){.alloc = malloc}"]),
    "abSolveStatus": ("AB_SOLVE_OK", ["(abSolveStatus)99", "(abSolveStatus)-1"]),
}
# What stands for a struct that is handed over by its address; each field of it is made wrong in turn.
STRUCTS = {
    "abBodyDef": "ab_body_def()", "abJointDef": "f->joint_def", "abGeomDef": "f->geom_def", "abMeshDef": "f->mesh_def",
    "abSiteDef": "ab_site_def()", "abTendonDef": "f->tendon_def", "abEqualityDef": "f->equality_def",
    "abActuatorDef": "f->actuator_def", "abKeyDef": "ab_key_def()", "abPairDef": "f->pair_def",
    "abAttachDef": "ab_attach_def()", "abLoadOption": "(abLoadOption){0}", "abCoupling": "ab_coupling(f->model, 1, 10)",
    "abPointerDef": "f->pointer_def", "abInverseDef": "f->inverse_def", "abConvex": "f->convex", "abCamera": "f->camera",
    "abLivePage": "(abLivePage){0}", "abLpDef": "f->lp", "abNnlsDef": "f->nnls", "abLcpDef": "f->lcp", "abQpDef": "f->qp",
    "abMcpDef": "f->mcp", "abPatch": "f->patch", "abFrameHand": "f->frame_hand", "abNumber": "f->number",
    "abRay": "ab_ray((abVec3){0, 0, 5}, (abVec3){0, 0, -1})",
}
# Arguments with a meaning: (function or *, name) -> right value, or (right value, wrong ones).
NAMED = {
    ("*", "path"): ("f->path", TEXTS + ["f->folder"]),
    ("*", "name"): ('"box"', TEXTS),
    ("ab_load", "path"): ("f->scene_file", TEXTS + ["f->folder"]),
    ("ab_load_with", "path"): ("f->scene_file", TEXTS + ["f->folder"]),
    ("ab_scene_load", "path"): ("f->scene_file", TEXTS + ["f->folder"]),
    ("ab_recording_open", "path"): ("f->recording_file", TEXTS + ["f->folder"]),
    ("ab_scene_save", "path"): ("f->scene_path", TEXTS + ["f->folder"]),
    ("ab_model_save", "path"): ("f->model_path", TEXTS + ["f->folder"]),
    ("ab_live_page", "path"): ("f->page_path", TEXTS + ["f->folder"]),
    ("ab_view_page", "path"): ("f->page_path", TEXTS + ["f->folder"]),
    ("ab_set_contact", "name"): ('"patch"', TEXTS),
    ("ab_scene_set", "name"): ('"tolerance"', TEXTS),
    ("ab_set_param", "name"): ('"tolerance"', TEXTS),
    ("ab_number_find", "name"): ('"body.box.mass"', TEXTS + ['"body"', '"body."', '"body..mass"', '"key.x.qpos[9999999999]"',
                                                             '"geom.box.size[-1]"', '"geom.box.size["']),
    ("*", "text"): ("f->text", ["NULL"]),
    ("ab_scene_string", "text"): ('"text"', TEXTS),
    ("ab_scene_load_memory", "bytes"): ("f->scene_text", ["NULL"]),
    ("ab_scene_load_memory", "n"): ("strlen(f->scene_text)", ["0", "1"]),
    ("ab_model_load_memory", "bytes"): ("f->model_bytes", ["NULL"]),
    ("ab_model_load_memory", "n"): ("f->nmodel_bytes", ["0", "1", "32"]),
    ("ab_load_memory", "bytes"): ("f->model_bytes", ["NULL"]),
    ("ab_load_memory", "n"): ("f->nmodel_bytes", ["0", "1", "32"]),
    ("ab_step_text", "size"): ("sizeof f->text", ["0", "1", "2"]),
    ("ab_state_get", "block"): ("f->state", ["NULL"]),
    ("ab_state_get", "bytes"): ("f->nstate", ["0", "1"]),
    ("ab_state_set", "block"): ("f->state", ["NULL"]),
    ("ab_state_set", "bytes"): ("f->nstate", ["0", "1", "100"]),
    # arrays shorter than said cannot be seen
    ("ab_frame_write", "nhand"): ("1", ["0", "-1", "INT_MIN"]),
    ("ab_suggest", "n"): ("2", ["0", "-1"]),
    ("ab_suggest", "known"): ("f->known", ["NULL"]),
    ("ab_suggest", "size"): ("sizeof f->text", ["0", "1", "2"]),
    ("ab_json_free", "json"): ("ab_model_json(f->model, true)", ["NULL"]),
    ("ab_bytes_free", "bytes"): ("ab_model_bytes(f->model, &f->nblock, NULL)", ["NULL"]),
    ("ab_set_threads", "nthread"): ("2", INTS + ["0", "100000"]),
    ("ab_camera_all", "width"): ("64", INTS + ["0"]),
    ("ab_camera_all", "height"): ("64", INTS + ["0"]),
    ("*", "body"): ("1", INTS + ["f->model->nbody", "0"]),
    ("ab_data_copy", "to"): ("f->second_data", ["NULL", "f->other_data", "f->data"]),
    ("ab_scene_attach", "part"): ("f->other_scene", ["NULL", "f->scene", "f->empty_scene"]),
}
# Counts of an array and offsets in it: how long it is cannot be seen, so they are only made negative.
COUNT = re.compile(r"n[a-z]+$|n$")


def strip(text):
    return re.sub(r"^#.*?(?<!\\)$", "", re.sub(r"//[^\n]*", "", text), flags=re.M)


def declarations(text):
    """(name, [(type, argument)]) of all functions"""
    for match in re.finditer(r"AB_API\s+([^;(]*?)\b(ab_\w+)\s*\(([^;]*)\)\s*;", text):
        arguments = []
        for part in match.group(3).split(","):
            part = " ".join(part.split())
            if part in ("void", ""):
                continue
            found = re.match(r"(.*?[\s*])(\w+)$", part)
            arguments.append((plain(found.group(1)), found.group(2)))
        yield match.group(2), arguments


def plain(type_name):
    return re.sub(r"\bconst\b|\bstruct\b", "", type_name).replace(" ", "") \
        .replace("unsignedchar", "unsigned char")


def structs(text):
    """{name: [(type, field)]}; arrays by their first element"""
    out = {}
    for match in re.finditer(r"typedef struct (ab\w+) \{(.*?)\n\} ab\w+;", text, re.S):
        fields = []
        for line in match.group(2).split(";"):
            line = " ".join(line.split())
            found = re.match(r"(\w+)([\s*]+.*)$", re.sub(r"\b(const|struct|unsigned) ", "", line))
            if not found or "(" in line:
                continue
            base = found.group(1)
            for name in re.sub(r"\[\w+\]", "[0]", found.group(2)).split(","):
                name = name.strip()
                stars = name.count("*")
                fields.append((plain(base) + "*" * stars, name.lstrip("*")))
        out[match.group(1)] = fields
    return out


def enums(text):
    return set(re.findall(r"\} (ab\w+);", "".join(re.findall(r"typedef enum.*?\} ab\w+;", text, re.S))))


def field_wrongs(type_name, field, known_enums):
    if type_name.endswith("*"):
        return ["NULL"]
    if type_name == "int":
        return ["-1", "INT_MIN"] if COUNT.match(field) else INTS
    if type_name == "double":
        return DOUBLES
    if type_name == "abVec3":
        return ["(abVec3){NAN, 0, 0}", "(abVec3){0, 0, 0}", "(abVec3){1e308, 1e308, 1e308}"]
    if type_name == "abPose":
        return VALUES["abPose"][1]
    if type_name in known_enums:
        return ["(%s)99" % type_name, "(%s)-1" % type_name]
    return []


def value_of(function, type_name, argument, known_enums):
    named = NAMED.get((function, argument)) or (NAMED.get(("*", argument)) if type_name in ("char*", "int") else None)
    if named:
        return named
    if type_name in VALUES:
        return VALUES[type_name]
    if type_name.rstrip("*") in STRUCTS and type_name.endswith("*"):
        return "&a_%s" % argument, ["NULL"]
    if type_name in known_enums:
        return "(%s)0" % type_name, ["(%s)99" % type_name]
    if type_name == "char*":
        return '"text"', TEXTS
    sys.exit("interface.py: what is a right, what a wrong '%s %s' of %s?" % (type_name, argument, function))


def calls(function, arguments, known_structs, known_enums):
    """(what to show, statements) of all calls"""
    values = [value_of(function, t, a, known_enums) for t, a in arguments]
    before = "".join("%s a_%s = %s; (void)a_%s; " % (t[:-1], a, STRUCTS[t[:-1]], a) for (t, a), v in zip(arguments, values)
                     if v[0] == "&a_%s" % a)

    def call(chosen):
        return "%s(%s)" % (function, ", ".join(chosen))

    right = [v[0] for v in values]
    yield call(right), before + call(right)
    for i, (_, wrong) in enumerate(values):
        for value in wrong:
            chosen = [*right[:i], value, *right[i + 1:]]
            yield call(chosen), before + call(chosen)
    nothing = ["NULL" if "NULL" in v[1] else v[0] for v in values]
    if nothing.count("NULL") > 1:
        yield call(nothing), before + call(nothing)
    for (type_name, argument), value in zip(arguments, values):
        if value[0] != "&a_%s" % argument:
            continue
        for field_type, field in known_structs[type_name[:-1]]:
            for wrong in field_wrongs(field_type, field, known_enums):
                edit = "a_%s.%s = %s" % (argument, field, wrong)
                yield "%s with %s" % (call(right), edit[2:]), "%s%s; %s" % (before, edit, call(right))


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = "\n".join(strip(p.read_text()) for p in sorted(folder.glob("*.h")))
    known_structs, known_enums = structs(text), enums(text)
    functions, table = [], []
    for function, arguments in declarations(text):
        for shown, statements in calls(function, arguments, known_structs, known_enums):
            quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
            table.append('    {"%s", "%s", call%d},' % (function, quoted, len(functions)))
            unused = "(void)f; " if "f->" not in statements else ""
            functions.append("static void call%d(Fixture* f) { %s%s; }" % (len(functions), unused, statements))
    out.write_text('// Written by interface.py.\n#include "trust/interface.h"\n\n%s\n\nconst Call interface_call[] = {\n%s\n};\n'
                   "const int interface_count = %d;\n" % ("\n".join(functions), "\n".join(table), len(functions)))


if __name__ == "__main__":
    main()
