// Fails if the registry knows a vulnerability, high or worse, in a dependency of the service. Some registries have no audit
// and some machines no network: then it says so and does not pass silently.
import { execFile } from 'node:child_process'

const patienceMs = 20_000

const { report, reason } = await ask()
if (report === undefined) {
  process.stdout.write(`note: vulnerabilities were not checked: ${reason}\n`)
} else {
  const bad = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => /^(high|critical)$/.test(severity))
  for (const { name, severity, range, via } of bad) {
    const words = via.map((each) => (typeof each === 'string' ? `by ${each}` : `${each.title} (${each.url})`))
    process.stdout.write(`${severity}: ${name} ${range}: ${words.join('; ')}\n`)
  }
  if (bad.length > 0) process.exitCode = 1
}

/**
 * @typedef {{ name: string, severity: string, range: string, via: Array<string | { title: string, url: string }> }} Finding
 * @typedef {{ vulnerabilities?: Record<string, Finding>, auditReportVersion?: number, message?: string }} Report
 * @returns {Promise<{ report: Report | undefined, reason: string }>}
 */
function ask() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const options = ['--fetch-retries=0', `--fetch-timeout=${patienceMs}`]
  return new Promise((resolve) => {
    execFile(
      npm,
      ['audit', '--omit=dev', '--json', ...options],
      { timeout: patienceMs, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => {
        /** @type {Report} */
        let report = {}
        try {
          report = JSON.parse(stdout)
        } catch {
          // Not a report.
        }
        const isReport = report.auditReportVersion !== undefined && report.vulnerabilities !== undefined
        const reason = error?.killed ? 'the registry did not answer in time' : 'the registry in use has no audit'
        resolve(isReport ? { report, reason: '' } : { report: undefined, reason })
      },
    )
  })
}
