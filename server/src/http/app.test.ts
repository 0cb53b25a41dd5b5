import serializerOf, { type AnySchema } from 'fast-json-stringify'
import { expect, test } from 'vitest'
import { useRouteTable } from '../../test/route-table.ts'
import { useServer } from '../../test/server.ts'

const routes = useRouteTable()
useServer()

// They are compiled on first use: a schema that cannot be would otherwise be found by whoever asks for that route first.
test('every schema of an answer can be compiled', () => {
  const compiled = routes.flatMap(({ method, path, answers }) =>
    Object.entries(answers).map(([status, schema]) => {
      const of = `${method} ${path} ${status}`
      expect(() => serializerOf(schema as AnySchema), of).not.toThrow()
      return of
    }),
  )
  expect(compiled.length).toBeGreaterThan(150)
})
