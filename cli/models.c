// abut models: the contact models, told by their own descriptors.
#include <string.h>

#include "cli.h"

static const CliOption option[] = {
    {"--json", NULL, "a JSON list instead of the text"},
};

static const CliCommand command = {
    "models",
    "[NAME...]",
    0,
    CLI_MAX_GIVEN,
    "Lists the contact models with their parameters, defaults and units.",
    "The first model is the default. A scene chooses another by\n"
    "  <custom><text name=\"abut.contact\" data=\"NAME\"/>\n"
    "          <numeric name=\"abut.PARAMETER\" data=\"VALUE\"/></custom>\n"
    "and the command line by --contact NAME --set PARAMETER=VALUE.\n",
    sizeof option / sizeof option[0],
    option};

static json_t* model_json(const abContactModel* m) {
  json_t* param = json_array();
  for (int i = 0; i < m->nparam; i++) {
    json_t* p = json_object();
    json_object_set_new(p, "name", json_string(m->param[i].name));
    json_object_set_new(p, "default", cli_json_number(m->param[i].value));
    json_object_set_new(p, "unit", json_string(m->param[i].unit ? m->param[i].unit : ""));
    json_object_set_new(p, "doc", json_string(m->param[i].doc ? m->param[i].doc : ""));
    json_array_append_new(param, p);
  }
  json_t* j = json_object();
  json_object_set_new(j, "name", json_string(m->name));
  json_object_set_new(j, "summary", json_string(m->summary ? m->summary : ""));
  json_object_set_new(j, "source", json_string(m->source ? m->source : ""));
  json_object_set_new(j, "geometry",
                      json_string(m->geometry == AB_GEOMETRY_VOLUME ? "volume" : "pair"));
  json_object_set_new(j, "parameters", param);
  return j;
}

static void print_model(const abContactModel* m, bool is_default) {
  printf("%s%s\n  %s\n", m->name, is_default ? " (default)" : "", m->summary ? m->summary : "");
  if (m->source) printf("  after: %s\n", m->source);
  static const char* const heading[] = {"parameter", ">default", "unit", "meaning"};
  CliTable t = cli_table(4, heading);
  for (int i = 0; i < m->nparam; i++) {
    const abParam* p = &m->param[i];
    cli_cell(&t, "%s", p->name);
    cli_cell(&t, "%g", p->value);
    cli_cell(&t, "%s", p->unit ? p->unit : "");
    cli_cell(&t, "%s", p->doc ? p->doc : "");
  }
  cli_table_print(&t, "    ");
}

int cli_models(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  int n = ab_contact_model_count();
  const char* known[64];
  for (int i = 0; i < n && i < 64; i++) known[i] = ab_contact_model(i)->name;
  for (int i = 0; i < args.nargument; i++)
    if (!ab_find_contact_model(args.argument[i]))
      return cli_fail("there is no contact model '%s'%s", args.argument[i],
                      cli_suggest(args.argument[i], n, known));
  json_t* list = json_array();
  bool json = cli_has(&args, "--json"), first = true;
  for (int i = 0; i < n; i++) {
    const abContactModel* m = ab_contact_model(i);
    bool wanted = args.nargument == 0;
    for (int k = 0; k < args.nargument; k++) wanted = wanted || !strcmp(args.argument[k], m->name);
    if (!wanted) continue;
    if (json)
      json_array_append_new(list, model_json(m));
    else
      printf("%s", first ? "" : "\n"), print_model(m, i == 0);
    first = false;
  }
  if (json)
    cli_json_print(list);
  else
    json_decref(list);
  return CLI_DONE;
}
