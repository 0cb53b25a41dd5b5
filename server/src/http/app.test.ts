import serializerOf, { type AnySchema } from 'fast-json-stringify'
import { expect, test } from 'vitest'
import { useRouteTable } from '../../test/route-table.ts'
import { useServer } from '../../test/server.ts'

const routes = useRouteTable()
useServer()

// Schemas are compiled on first use, so a broken one would otherwise fail at its route's first request.
test('every response schema compiles', () => {
  const compiled = routes.flatMap(({ method, path, answers }) =>
    Object.entries(answers).map(([status, schema]) => {
      const of = `${method} ${path} ${status}`
      expect(() => serializerOf(schema as AnySchema), of).not.toThrow()
      return of
    }),
  )
  expect(compiled.length).toBeGreaterThan(150)
})
