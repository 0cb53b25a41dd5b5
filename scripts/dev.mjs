// `npm run dev`: the service and the dashboard from their sources. The service restarts when you save server/src, pages reload
// when you save dashboard/src, and the embedded database stays up all the while. Types are for `npm run check`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { watch } from 'rolldown'
import { createServer } from 'vite'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const program = path.join(root, 'server', 'dist-dev', 'main.js')
/** Everything the service answers itself; all other paths are pages of the dashboard. */
const ofService =
  '^/(v\\d+|webhooks/organizations|health|metrics|docs|demo|inbox(\\.js)?|socket\\.io|openapi\\.json)(/|\\?|$)'
/** As `npm start` has built it: Node 20 does not read TypeScript. */
const built = (/** @type {string} */ file) => import(path.join(root, 'server', 'dist', file))

const { config } = (await built('config.js')).readConfig(process.env)
const service = `http://${config.host}:${config.port}`
const database = config.databaseUrl === undefined ? await startDatabase() : undefined
const pages = await createServer({
  configFile: path.join(root, 'dashboard', 'vite.config.ts'),
  root: path.join(root, 'dashboard'),
  server: { host: config.host, port: config.port + 1, proxy: { [ofService]: { target: service, ws: true } } },
  logLevel: 'warn',
})
await pages.listen()
const dashboard = pages.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? ''

/** @type {import('node:child_process').ChildProcess | undefined} */
let server
/** Restarts happen one after another. */
let turn = Promise.resolve()
const sources = watch({
  input: path.join(root, 'server', 'src', 'main.ts'),
  platform: 'node',
  external: (id) => !/^[./]/.test(id),
  output: { file: program, format: 'esm', sourcemap: true },
  watch: { clearScreen: false },
})
sources.on('event', (event) => {
  if (event.code === 'ERROR') say(`server/src does not compile; the last good version runs on.\n${event.error.message}`)
  if (event.code === 'BUNDLE_END') turn = turn.then(restart)
  if ('result' in event) void event.result.close()
})
say(`Dashboard  ${dashboard}  (reloads when you save dashboard/src)`)
say(`API        ${service}  (restarts when you save server/src)`)
say(`Database   ${database ? `${config.dataDir}  (stays up)` : 'that of DATABASE_URL'}`)

let isStopping = false
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => void stop())

async function startDatabase() {
  const [{ claimDataDir, generatedSecrets }, { startEmbedded }] = await Promise.all([
    built('db/install/data-dir.js'),
    built('db/install/embedded.js'),
  ])
  const claim = await claimDataDir(config.dataDir)
  const { databasePassword, secretKey } = generatedSecrets(config.dataDir)
  const embedded = await startEmbedded({ dataDir: config.dataDir, password: databasePassword, say })
  return {
    env: {
      DATABASE_URL: embedded.url,
      BELFRY_SECRET_KEY: config.secretKey ?? secretKey,
      // As with the embedded database, which this is.
      BELFRY_ALLOW_PRIVATE_ADDRESSES: process.env.BELFRY_ALLOW_PRIVATE_ADDRESSES ?? 'development',
    },
    stop: async () => {
      await embedded.stop()
      claim.release()
    },
  }
}

async function restart() {
  if (server) say('Restarting…')
  await stopServer()
  if (isStopping) return
  const env = { BELFRY_PUBLIC_URL: dashboard, ...process.env, ...database?.env }
  const started = spawn(process.execPath, ['--enable-source-maps', program], { cwd: root, env, stdio: 'inherit' })
  server = started
  started.once('exit', (code) => {
    if (server === started && !isStopping) say(`The service ended with code ${code}; it starts again when you save.`)
    if (server === started) server = undefined
  })
}

async function stopServer() {
  const running = server
  server = undefined
  if (!running || running.exitCode !== null || running.signalCode !== null) return
  // As from a terminal: no balancer has to find out first.
  running.kill('SIGINT')
  await once(running, 'exit')
}

async function stop() {
  if (isStopping) return
  isStopping = true
  await sources.close()
  await turn
  await stopServer()
  await pages.close()
  await database?.stop()
  process.exit(0)
}

function say(/** @type {string} */ line) {
  process.stdout.write(`  ${line}\n`)
}
