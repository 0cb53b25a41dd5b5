// A reverse proxy that serves the service under a path, as on a shared host.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { findNginx } from '../../scripts/nginx.mjs'
import { freePort } from './free-port.ts'

/** In front of the address that `target` returns when the tests begin. */
export function useProxy(prefix: string, target: () => string): { url: string } {
  let url = ''
  let stop = async (): Promise<void> => undefined
  beforeAll(async () => {
    const port = await freePort()
    const nginx = findNginx()
    if (!nginx) throw new Error('No nginx found. `npm test` installs it on Debian; install it yourself elsewhere.')
    stop = await startNginx(nginx, { port, prefix, target: target() })
    url = `http://127.0.0.1:${port}`
  })
  afterAll(() => stop())
  return {
    get url() {
      return url
    },
  }
}

async function startNginx(
  program: string,
  { port, prefix, target }: { port: number; prefix: string; target: string },
): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-nginx-'))
  // Its worker processes may run as another user.
  chmodSync(folder, 0o755)
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const config = path.join(folder, 'nginx.conf')
  // The configuration of docs/inbox.md.
  writeFileSync(
    config,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; events {}
     http {
       access_log off; ${kept.join(' ')}
       map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
       server {
         listen 127.0.0.1:${port};
         location ${prefix}/ {
           proxy_pass ${target}/;
           proxy_http_version 1.1;
           proxy_set_header Host $host;
           proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
           proxy_set_header X-Forwarded-Proto $scheme;
           proxy_set_header Upgrade $http_upgrade;
           proxy_set_header Connection $connection_upgrade;
           proxy_read_timeout 90s;
         }
       }
     }`,
  )
  const child = spawn(program, ['-p', folder, '-c', config], { stdio: 'inherit' })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const isUp = await Promise.race([listening(port), ended.then(() => false)])
  if (isUp) return stop
  await stop()
  throw new Error('nginx did not start: see its output above.')
}

async function listening(port: number): Promise<boolean> {
  for (let attempt = 0; ; attempt += 1) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.end())
    })
    if (isThere || attempt === 500) return isThere
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
