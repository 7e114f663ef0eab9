// `npm run check:chart`: renders the Helm chart in several ways and holds what comes of it against the schemas of
// Kubernetes, strictly: a field that Kubernetes does not know is refused. Also compose.yaml against the schema of Compose.
// Helm and the schemas come as Go modules, once per machine: Helm is built in minutes, the schemas are a download of some
// 100 MiB.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { type Figure, isMissed, lineOf, noneOf } from '../test/soak/report.ts';
import { buildOnce, builtFolder, type GoProgram } from '../test/support/go-program.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });

const helm: GoProgram = {
  module: 'helm.sh/helm/v3',
  version: '3.18.6',
  package: './cmd/helm',
  binary: 'helm',
  tags: '',
  versionVariable: 'helm.sh/helm/v3/internal/version.version',
  assets: [],
  builtBy: 'npm run check:chart',
};
const kubernetes = '1.34.1';
const operator = '0.82.2';
const compose = '2.9.0';
const chart = 'deploy/helm/signalbox';

type Rendering = {
  readonly name: string;
  readonly set: readonly string[];
  readonly kinds: readonly string[];
};

const always = ['Deployment', 'Job', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'];

const renderings: readonly Rendering[] = [
  { name: 'as it is', set: [], kinds: [...always, 'PodDisruptionBudget'] },
  {
    name: 'all that can be added',
    set: [
      'ingress.enabled=true',
      'ingress.className=nginx',
      'ingress.tlsSecret=tls',
      'serviceMonitor.enabled=true',
      'serviceMonitor.labels.release=stack',
      'serviceMonitor.tokenSecret=signalbox-metrics',
      'prometheusRule.enabled=true',
      'imagePullSecrets[0].name=pull',
      'nodeSelector.disk=ssd',
      'tolerations[0].operator=Exists',
      'config.OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
      'worker.storageClass=fast',
      'worker.mirrorSize=2Ti',
    ],
    kinds: [
      ...always,
      'Ingress',
      'PodDisruptionBudget',
      'PrometheusRule',
      'ServiceMonitor',
      'ServiceMonitor',
    ],
  },
  {
    name: 'as little as can be',
    set: ['api.replicas=1', 'migrate.enabled=false', 'serviceAccount.name=mine', 'worker.persistent=false'],
    kinds: ['Deployment', 'Service', 'Service', 'StatefulSet'],
  },
];

/** Values that must not be taken: a secret among what is not, a sandbox without a common disk, a name that is not known. */
const refusedValues = [
  'config.SIGNALBOX_SECRET_KEY=fake',
  'config.SIGNALBOX_SANDBOX=on',
  'api.replica=2',
  'api.replicas=0',
  'existingSecret=',
];

function moduleFolder(module: string, version: string): string {
  const args = ['mod', 'download', '-json', `${module}@v${version}`];
  const { Dir } = JSON.parse(execFileSync('go', args, { encoding: 'utf8' })) as { Dir: string };
  return Dir;
}

type Schema = { properties?: object; additionalProperties?: unknown; [key: string]: unknown };
type Swagger = { readonly definitions: Readonly<Record<string, Schema>> };
type Resource = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: { readonly enableServiceLinks?: boolean } } };
};
type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };

/** By `apiVersion kind`. */
function kubernetesValidators(): (resource: Resource) => ValidateFunction | null {
  const file = join(moduleFolder('k8s.io/kubernetes', kubernetes), 'api/openapi-spec/swagger.json');
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as Swagger;
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(definitions)) {
    if (schema.properties !== undefined) schema.additionalProperties ??= false;
    for (const { group, version, kind } of (schema['x-kubernetes-group-version-kind'] ??
      []) as GroupVersionKind[])
      names.set(`${group === '' ? '' : `${group}/`}${version} ${kind}`, name);
  }
  // Written as a number or as text, as people do.
  for (const name of ['api.resource.Quantity', 'util.intstr.IntOrString'])
    definitions[`io.k8s.apimachinery.pkg.${name}`]!['type'] = ['string', 'number'];
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, allowUnionTypes: true });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  return ({ apiVersion, kind }) => {
    const name = names.get(`${apiVersion} ${kind}`);
    if (name !== undefined) return ajv.compile({ $ref: `kubernetes#/definitions/${name}` });
    return operatorKinds.has(kind) ? ajv.compile(operatorSchema(kind)) : null;
  };
}

/** Kinds of the Prometheus operator. */
const operatorKinds: ReadonlySet<string> = new Set(['PrometheusRule', 'ServiceMonitor']);

/** As its custom resource definition has it; unknown fields are refused. */
function operatorSchema(kind: string): Schema {
  const folder = moduleFolder('github.com/prometheus-operator/prometheus-operator', operator);
  const file = `monitoring.coreos.com_${kind.toLowerCase()}s.yaml`;
  const text = readFileSync(join(folder, 'example/prometheus-operator-crd', file), 'utf8');
  const { spec } = parse(text) as {
    spec: { versions: readonly [{ schema: { openAPIV3Schema: { properties: { spec: Schema } } } }] };
  };
  return {
    type: 'object',
    properties: { spec: closed(spec.versions[0].schema.openAPIV3Schema.properties.spec) },
  };
}

/** An object that names its fields has no others; a number that may be a text is one of both. */
function closed(schema: Schema): Schema {
  const isNumberOrText = schema['x-kubernetes-int-or-string'] === true;
  // Patterns of Go that ignore case are none of JavaScript.
  const known = Object.entries(schema).filter(
    ([key, value]) => !(key === 'pattern' && String(value).includes('(?i)')),
  );
  const inner = known.map(([key, value]) => [
    key,
    key === 'properties'
      ? Object.fromEntries(
          Object.entries(value as object).map(([name, each]) => [name, closed(each as Schema)]),
        )
      : key === 'items'
        ? closed(value as Schema)
        : value,
  ]);
  return {
    ...(Object.fromEntries(inner) as Schema),
    ...(isNumberOrText ? { type: ['string', 'number'], anyOf: [{}] } : {}),
    ...(schema.properties === undefined ? {} : { additionalProperties: false }),
  };
}

const helmFile = (): string => join(builtFolder(helm), 'helm');

const rendered = (set: readonly string[]) =>
  spawnSync(
    helmFile(),
    ['template', 'mine', chart, '--kube-version', kubernetes, ...set.flatMap((value) => ['--set', value])],
    { encoding: 'utf8' },
  );

function problemsOf({ name, set, kinds }: Rendering, validatorOf: ReturnType<typeof kubernetesValidators>) {
  const { status, stdout, stderr } = rendered(set);
  if (status !== 0) return [`${name}: ${stderr}`];
  const resources = parseAllDocuments(stdout)
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null);
  const problems: string[] = [];
  const found = resources.map(({ kind }) => kind).toSorted();
  if (found.join(' ') !== kinds.toSorted().join(' ')) problems.push(`${name}: renders ${found.join(', ')}`);
  for (const resource of resources) {
    const validate = validatorOf(resource);
    if (validate === null)
      problems.push(`${name}: Kubernetes ${kubernetes} knows no ${resource.apiVersion} ${resource.kind}`);
    const pod = resource.spec?.template?.spec;
    if (pod !== undefined && pod.enableServiceLinks !== false)
      problems.push(
        `${name}: Kubernetes sets variables SIGNALBOX_… in ${resource.kind} ${resource.metadata.name}`,
      );
    const isValid: boolean = validate?.(resource) ?? true;
    for (const { instancePath, message, params } of isValid ? [] : (validate?.errors ?? []))
      problems.push(
        `${name}: ${resource.kind} ${resource.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
      );
  }
  return problems;
}

function composeProblems(): string[] {
  const folder = moduleFolder('github.com/compose-spec/compose-go/v2', compose);
  // It names its dialect by an address that is not quite the usual one.
  const { $schema: _, ...schema } = JSON.parse(
    readFileSync(join(folder, 'schema/compose-spec.json'), 'utf8'),
  ) as Record<string, unknown>;
  const ajv = new Ajv({ strict: false });
  ajv.addFormat('duration', true).addFormat('expose', true).addFormat('ports', true);
  const validate = ajv.compile(schema);
  const file = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as object;
  return validate(file) ? [] : [`compose.yaml: ${ajv.errorsText(validate.errors)}`];
}

await buildOnce(helm);
const lint = spawnSync(helmFile(), ['lint', '--strict', chart], { encoding: 'utf8' });
const validatorOf = kubernetesValidators();
const problems = renderings.flatMap((rendering) => problemsOf(rendering, validatorOf));
const taken = refusedValues.filter((value) => rendered([value]).status === 0);
const wrongCompose = composeProblems();
for (const problem of [...problems, ...taken.map((value) => `taken: ${value}`), ...wrongCompose])
  console.error(problem);
const figures: Figure[] = [
  noneOf('exit code of helm lint', lint.status ?? -1),
  { name: 'renderings checked', value: renderings.length },
  noneOf('problems of what is rendered', problems.length),
  noneOf('wrong values taken', taken.length),
  noneOf('problems of compose.yaml', wrongCompose.length),
];
if (values.json) console.log(JSON.stringify({ figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exitCode = figures.some(isMissed) ? 1 : 0;
