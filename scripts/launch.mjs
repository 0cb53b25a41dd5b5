// The first file of the built program, and of its thread for simulations, copied to server/dist/bundle/main.js: loads the bundle
// with code that V8 has compiled before. Node 22 has a cache for that; with Node 20 it takes this. Loading the program takes 0.6 s of
// processor time instead of 1.9 s, the thread's first simulation 0.2 s less.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import v8 from 'node:v8'
import vm from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const folder = import.meta.dirname
const name = isMainThread ? 'service' : 'simulation'
const bundle = path.join(folder, `${name}.cjs`)
// A process that has become idle collects its garbage to give memory back, and then once more: 0.1 s of processor time that finds
// nothing. Node 20 can be told so; other versions have other words for it, and complain.
if (process.versions.v8.startsWith('11.')) v8.setFlagsFromString('--memory-reducer-single-gc')
// V8 refuses code compiled by another version of it, or with other options.
const cache = path.join(folder, `${name}-${v8.cachedDataVersionTag()}.cache`)

/** @returns {Buffer | undefined} */
function compiledBefore() {
  try {
    return readFileSync(cache)
  } catch {
    return undefined
  }
}

const cachedData = compiledBefore()
const script = new vm.Script(readFileSync(bundle, 'latin1'), { filename: bundle, cachedData })
const loaded = { exports: {} }
script.runInThisContext()(loaded.exports, createRequire(bundle), loaded, import.meta.filename, folder)

if (!cachedData || script.cachedDataRejected) {
  const draft = `${cache}.${process.pid}`
  try {
    writeFileSync(draft, script.createCachedData())
    renameSync(draft, cache)
  } catch {
    // The folder is read-only, as in a container: the next start compiles again.
  }
}
