// A page of another site with components of the public clients: bundled as such a site would, and served from its own
// origin.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

/** The components of a page, from the outermost to the innermost. */
export type Scene = Array<[component: string, props: object]>

export interface TestPage {
  /** The address of a page with this scene. */
  showing(scene: Scene): string
}

/** `library` is the package name of the components. */
export function usePage(library: string): TestPage {
  let server: Server
  beforeAll(async () => {
    const script = await bundle(library)
    server = createServer((request, response) => {
      const isScript = request.url === '/page.js'
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
      response.end(isScript ? script : html)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server?.closeAllConnections()
    server?.close()
  })
  return {
    showing(scene) {
      const { port } = server.address() as AddressInfo
      return `http://127.0.0.1:${port}/#${encodeURIComponent(JSON.stringify(scene))}`
    },
  }
}

const html = `<!doctype html><html lang="en"><title>A site</title><link rel="icon" href="data:,">
<style>body { margin: 40px 40px 40px 500px }</style><div id="app"></div><script src="/page.js"></script></html>`

const source = (library: string) => `
  import { createElement } from 'react'
  import { createRoot } from 'react-dom/client'
  import * as library from '${library}'
  const scene = JSON.parse(decodeURIComponent(location.hash.slice(1)))
  const element = scene.reduceRight((inner, [name, props]) => [createElement(library[name], props, ...inner)], [])[0]
  createRoot(document.getElementById('app')).render(element)
`

async function bundle(library: string): Promise<string> {
  const entry = 'page-of-a-site'
  const build = await rolldown({
    input: entry,
    cwd: import.meta.dirname,
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === entry ? `${import.meta.dirname}/${entry}.js` : undefined),
        load: (id) => (id.endsWith(`/${entry}.js`) ? source(library) : undefined),
      },
    ],
  })
  const { output } = await build.generate({ format: 'iife', codeSplitting: false })
  await build.close()
  return output[0].code
}
