#!/usr/bin/env node
// The program of the package @belfry/server: the service, or one of its commands. It lies in `bin/` there.
import path from 'node:path'
import v8 from 'node:v8'

const [node = '', , command, ...args] = process.argv
const program = path.join(import.meta.dirname, '..', 'server', 'dist', 'bundle', 'main.js')
// As `npm start` does.
v8.setFlagsFromString('--max-semi-space-size=64')
v8.setFlagsFromString('--heap-growing-percent=200')
// Without a command, or with `start`, it is the service.
process.argv = [node, program, ...(command === undefined || command === 'start' ? [] : [command]), ...args]
await import(program)
