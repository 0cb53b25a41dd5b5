// A reverse proxy in front of the service that puts it under a path, as people do who have one host for everything.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { findNginx } from '../../scripts/nginx.mjs'

const nginx = findNginx()
/** What stands in front, for the names of tests. */
export const proxyName = nginx ? 'nginx' : 'a small proxy of ours, as nginx is not installed'

/** In front of what `target` gives when the tests begin. */
export function useProxy(prefix: string, target: () => string): { url: string } {
  let url = ''
  let stop = async (): Promise<void> => undefined
  beforeAll(async () => {
    const port = await freePort()
    stop = nginx ? await startNginx(nginx, { port, prefix, target: target() }) : await startOwn(port, prefix, target())
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
  // Its workers may be somebody else.
  chmodSync(folder, 0o755)
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const config = path.join(folder, 'nginx.conf')
  // As docs/inbox.md has it.
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
  const child: ChildProcess = spawn(program, ['-p', folder, '-c', config], { stdio: 'inherit' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await listening(port)
  return async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startOwn(port: number, prefix: string, target: string): Promise<() => Promise<void>> {
  const inside = (url = '') => (url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : undefined)
  const { hostname, port: targetPort } = new URL(target)
  const server = createServer((request, response) => {
    const url = inside(request.url)
    if (url === undefined) return void response.writeHead(404).end()
    const { method, headers } = request
    const passed = send({ host: hostname, port: targetPort, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  server.on('upgrade', (request, socket) => {
    const url = inside(request.url)
    if (url === undefined) return void socket.destroy()
    const upstream = connect(Number(targetPort), hostname, () => {
      const lines = [`${request.method} ${url} HTTP/1.1`]
      for (let at = 0; at < request.rawHeaders.length; at += 2)
        lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
      upstream.write(`${lines.join('\r\n')}\r\n\r\n`)
      upstream.pipe(socket).pipe(upstream)
    })
    for (const side of [upstream, socket]) side.on('error', () => [upstream, socket].map((each) => each.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.end())
    })
    if (isThere) return
    if (attempt === 500) throw new Error('the proxy did not start')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
