// Which part of the server may import which: floors (http → engine → steps → providers, render; the first three use db), and
// within a floor its rooms. Anything of ours that is not listed is refused. Tests may import what they like.

const tests = '\\.test\\.ts$'
const ours = '^(server|cli|bench|chaos|scripts)/(?!node_modules/)'
const room = (/** @type {string} */ name) => `^server/src/${name}/`
const file = (/** @type {string} */ name) => `^server/src/${name}\\.ts$`

/** Everyone may import these; they import nothing of ours but errors.ts. */
const everywhere = ['errors', 'config', 'tracing', 'package-folder']

/** What a run does, beside the steps. They are handed their clock, chance, ids and everything that is stored. */
const decided = [
  'attachments',
  'call',
  'canceling',
  'compose',
  'judge',
  'members',
  'passed-over',
  'run',
  'windows',
].map((name) => `engine/runs/${name}`)
/** Of the database's floor, what needs no database. */
const pureOfDb = [
  'addresses',
  'chat-addresses',
  'endpoint-types',
  'held-clock',
  'integration-facts',
  'link-tokens',
  'preference-choices',
  'refusals',
  'secrets',
  'signing',
  'step-log',
  'storable',
  'subscriber-fields',
  'tables',
].map((name) => `db/core/${name}`)

// Within a floor: each room, and the rooms of its floor that it may import. docs/architecture.md shows the same table.
export const rooms = {
  'http/site': [
    'http/inbox',
    'http/activity',
    'http/integrations',
    'http/content',
    'http/definitions',
    'http/import',
    'http/triggers',
    'http/subscribers',
    'http/workflows',
    'http/organization',
    'http/factors',
    'http/webhooks',
    'http/consent',
    'http/edge',
  ],
  'http/inbox': ['http/activity', 'http/integrations', 'http/subscribers', 'http/workflows', 'http/edge'],
  'http/activity': ['http/triggers', 'http/subscribers', 'http/workflows', 'http/edge'],
  'http/integrations': ['http/workflows', 'http/edge'],
  'http/simulate': ['http/triggers', 'http/subscribers', 'http/workflows', 'http/organization', 'http/edge'],
  'http/content': ['http/workflows', 'http/edge'],
  'http/definitions': ['http/integrations', 'http/content', 'http/workflows', 'http/edge'],
  'http/import': ['http/subscribers', 'http/workflows', 'http/edge'],
  'http/shadow': ['http/triggers', 'http/edge'],
  'http/triggers': ['http/workflows', 'http/edge'],
  'http/outbox': ['http/triggers', 'http/subscribers', 'http/edge'],
  'http/subscribers': ['http/edge'],
  'http/workflows': ['http/edge'],
  'http/organization': ['http/factors', 'http/edge'],
  'http/factors': ['http/edge'],
  'http/webhooks': ['http/edge'],
  'http/consent': ['http/inbox', 'http/subscribers', 'http/edge'],
  'http/questions': ['http/consent', 'http/edge'],
  'http/edge': [],
  'engine/queue': ['engine/retention', 'engine/runs', 'engine/core'],
  'engine/feedback': ['engine/runs', 'engine/consent', 'engine/core'],
  'engine/simulation': ['engine/runs', 'engine/consent', 'engine/authoring', 'engine/core'],
  'engine/outbox': ['engine/runs', 'engine/core'],
  'engine/shadow': ['engine/core'],
  'engine/runs': ['engine/core'],
  'engine/consent': ['engine/core'],
  'engine/domain': [],
  'engine/authoring': ['engine/core'],
  'engine/definitions': ['engine/core'],
  'engine/retention': ['engine/core'],
  'engine/core': [],
  'steps/check': ['steps/kinds', 'steps/contract', 'steps/conditions', 'steps/json-schema'],
  'steps/kinds': ['steps/delivery', 'steps/contract', 'steps/json-schema'],
  'steps/delivery': ['steps/contract', 'steps/conditions'],
  'steps/contract': ['steps/conditions', 'steps/json-schema'],
  'steps/conditions': [],
  'steps/json-schema': [],
  'db/queries': ['db/core'],
  'db/install': ['db/core'],
  'db/core': [],
}

/** What each floor may import of the others. */
const floors = {
  http: ['engine', 'steps', 'providers', 'render', 'db'],
  engine: ['steps', 'providers', 'render', 'db'],
  steps: ['providers', 'render', 'db'],
  providers: [],
  render: [],
  db: [],
}

const betweenFloors = Object.entries(floors).map(([floor, others]) => ({
  name: `${floor}-knows-only-${others.join('-') || 'itself'}`,
  severity: 'error',
  from: { path: room(floor), pathNot: tests },
  // The linter sees to it that config.ts is imported for its types only; this parser cannot tell.
  to: { path: ours, pathNot: [...[floor, ...others].map(room), ...everywhere.map(file)] },
}))

const betweenRooms = Object.entries(rooms).map(([name, others]) => {
  const [floor = ''] = name.split('/')
  return {
    name: `${name.replace('/', '-')}-keeps-to-its-arrows`,
    severity: 'error',
    from: { path: room(name), pathNot: tests },
    to: { path: room(floor), pathNot: [name, ...others].map(room) },
  }
})

export default {
  forbidden: [
    ...betweenFloors,
    ...betweenRooms,
    {
      name: 'errors-config-and-tracing-know-nobody',
      severity: 'error',
      from: { path: everywhere.map(file) },
      to: { path: ours, pathNot: file('errors') },
    },
    {
      name: 'runs-are-decided-without-a-database',
      comment:
        'A simulation plays the same files with other hands. The linter sees to it that rows are imported as types.',
      severity: 'error',
      from: {
        path: [room('steps'), room('engine/simulation'), ...decided.map(file)],
        pathNot: [
          tests,
          ...['snapshot', 'explain-reads', 'impact-reads'].map((name) => file(`engine/simulation/${name}`)),
        ],
      },
      to: { path: ['^server/src/db/', 'node_modules/pg/'], pathNot: [room('db/queries'), ...pureOfDb.map(file)] },
    },
    {
      name: 'only-tests-import-main',
      severity: 'error',
      from: { pathNot: [tests, '^server/test/'] },
      to: { path: file('main') },
    },
    {
      name: 'the-service-knows-no-tests-scripts-bench-or-chaos',
      severity: 'error',
      from: { path: '^server/src/', pathNot: tests },
      to: { path: ['^(cli|scripts|bench|chaos|server/test)/', tests] },
    },
    {
      name: 'the-service-runs-without-dev-dependencies',
      severity: 'error',
      from: { path: '^server/src/', pathNot: tests },
      // The scripts need this parser too, so the root names it among its tools; the server has it as a dependency of its own.
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/yaml/' },
    },
    {
      name: 'the-inbox-knows-nobody',
      comment: 'What a page embeds knows the service by what it answers, and brings nothing that a page would notice.',
      severity: 'error',
      from: { path: '^inbox/src/', pathNot: [tests, '^inbox/src/react\\.tsx$'] },
      to: { pathNot: '^inbox/src/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'every-import-leads-somewhere', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    // TypeScript 7 has no parser to call from JavaScript, so swc reads the sources. Type imports count as imports.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // It reads no JSX: dashboard/test/map.test.ts holds the dashboard to its part of the map.
    exclude: { path: ['^[a-z]+/dist/', '^[a-z]+/dist-', '^dashboard/src/'] },
    combinedDependencies: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
