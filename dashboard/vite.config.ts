import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

export default defineConfig({
  plugins: [react(), tailwindcss(), paintFirst(), compress()],
  build: {
    // No inline assets: the content security policy would refuse them.
    assetsInlineLimit: 0,
    target: 'es2022',
    chunkSizeWarningLimit: 700,
    // Modules shared by several pages go into one file: a visit takes a handful of requests, not fifty.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 3, maxModuleSize: 60_000 }] } },
    },
  },
})

/** A style sheet in the head delays the first paint until it has loaded; at the end of the body, what stands before it is painted. */
function paintFirst(): Plugin {
  return {
    name: 'paint-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => {
        const [sheet = ''] = /\s*<link rel="stylesheet"[^>]*>/.exec(html) ?? []
        return html.replace(sheet, '').replace('</body>', `${sheet.trim()}\n  </body>`)
      },
    },
  }
}

/** Compresses at build time with the best ratio; the server only serves the files. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|svg|html)$/.test(file)) continue
        const whole = path.join(dir, file)
        const bytes = readFileSync(whole)
        writeFileSync(`${whole}.gz`, gzipSync(bytes, { level: 9 }))
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(`${whole}.br`, brotliCompressSync(bytes, { params }))
      }
    },
  }
}
