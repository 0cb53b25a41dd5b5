// Finds the browser for the tests, or installs it. Uses only Node itself. Debian also packages Chromium without its windows,
// which takes a quarter less processor time: the tests prefer it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { canInstall, installPackage, run } from './debian-package.mjs'

const headlessShell = '/usr/bin/chromium-headless-shell'
const usualPlaces = [
  headlessShell,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** @returns {string | undefined} its path */
export function findChromium() {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH) return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : undefined
  return usualPlaces.find((place) => existsSync(place)) ?? ofPlaywright()
}

/** The path of Playwright's own download. @returns {string | undefined} */
function ofPlaywright() {
  const ask = "import('playwright-core').then(({ chromium }) => process.stdout.write(chromium.executablePath()))"
  const { stdout } = spawnSync(process.execPath, ['-e', ask], { encoding: 'utf8', cwd: 'server' })
  return stdout && path.isAbsolute(stdout) && existsSync(stdout) ? stdout : undefined
}

/** @returns {string | undefined} what to do, if it could not be installed */
export function installChromium() {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH) return findChromium() ? undefined : `CHROMIUM_PATH names ${CHROMIUM_PATH}, which does not exist.`
  let said = ''
  if (canInstall() && !existsSync(headlessShell)) said += installPackage('chromium-headless-shell')
  if (findChromium()) return undefined
  said += canInstall() ? installPackage('chromium') : run('npx', ['playwright-core', 'install', 'chromium'])
  if (findChromium()) return undefined
  return `${said}\nThe tests need Chromium. Install it, or name one with CHROMIUM_PATH.`
}
