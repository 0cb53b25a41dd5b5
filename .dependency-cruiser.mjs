// The arrows of the map: http → engine → steps → providers, render; the first three use db; everyone may use errors, and
// tracing: a trace goes through every room.
// Each room lists what it may import; anything else of ours is refused. Tests may import what they like.

const tests = '\\.test\\.ts$'
const ours = '^(server|bench|chaos|scripts)/(?!node_modules/)'
const room = (name) => `^server/src/${name}/`
const file = (name) => `^server/src/${name}\\.ts$`

const mayImport = {
  http: ['http', 'engine', 'steps', 'providers', 'render', 'db'],
  engine: ['engine', 'steps', 'providers', 'render', 'db'],
  steps: ['steps', 'providers', 'render', 'db'],
  providers: ['providers'],
  render: ['render'],
  db: ['db'],
}

const arrows = Object.entries(mayImport).map(([name, rooms]) => ({
  name: `${name}-knows-only-${rooms.filter((other) => other !== name).join('-') || 'itself'}`,
  severity: 'error',
  from: { path: room(name), pathNot: tests },
  // The linter sees to it that config.ts is imported for its types only; this parser cannot tell.
  to: {
    path: ours,
    pathNot: [...rooms.map(room), file('errors'), file('config'), file('tracing'), file('package-folder')],
  },
}))

export default {
  forbidden: [
    ...arrows,
    {
      name: 'errors-config-and-tracing-know-nobody',
      severity: 'error',
      from: { path: [file('errors'), file('config'), file('tracing'), file('package-folder')] },
      to: { path: ours, pathNot: file('errors') },
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
      to: { path: ['^(scripts|bench|chaos|server/test)/', tests] },
    },
    {
      name: 'the-service-runs-without-dev-dependencies',
      severity: 'error',
      from: { path: '^server/src/', pathNot: tests },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
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
