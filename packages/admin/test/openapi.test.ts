import { openApiOf, route } from '@millrace/admin'
import { endpoint, operations, parametersOf } from '@millrace/admin/contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from './support/setup.ts'

test('the document is valid OpenAPI 3.1, with every operation', async () => {
  await using t = await setup([])
  const { status, body } = await t.call('GET /admin/api/openapi.json', { token: await t.token('viewer') })
  expect(status).toBe(200)
  expect(body.openapi).toBe('3.1.0')
  const { valid, errors } = await new Validator().validate(structuredClone(body))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  const described = Object.values(body.paths as Record<string, object>).flatMap((path) => Object.keys(path))
  expect(described).toHaveLength(operations().length)
})

test('the validator would notice', async () => {
  const broken = openApiOf([
    { name: 'x', topic: 'x', endpoint: Object.assign({}, operations()[0]?.endpoint, { summary: 5 }) as never },
  ])
  expect((await new Validator().validate(broken)).valid).toBe(false)
})

test('each operation has its own method and path, and an input for every parameter of it', () => {
  const lines = operations().map(({ endpoint: { method, path } }) => `${method} ${path}`)
  expect(new Set(lines).size).toBe(lines.length)
  for (const { endpoint: each } of operations())
    expect(Object.keys(each.input.shape)).toEqual(expect.arrayContaining(parametersOf(each.path)))
})

test("a workload's own operation is served and described like ours", async () => {
  const rename = endpoint({
    method: 'PATCH',
    path: '/admin/api/sources/:id',
    permission: 'operator',
    scope: 'all',
    summary: 'Rename a source',
    input: z.object({ id: z.string(), name: z.string() }),
    output: z.object({ id: z.string(), name: z.string(), by: z.string() }),
  })
  const hello = endpoint({
    method: 'GET',
    path: '/hello',
    permission: 'public',
    scope: 'all',
    summary: 'Greet',
    input: z.object({}),
    output: z.object({ hello: z.string() }),
  })
  const routes = [
    route(rename, async (input, { by, millrace }) => {
      await millrace.audit.write({ by, action: 'source.rename', target: input.id })
      return { ...input, by }
    }),
    route(hello, async () => ({ hello: 'world' })),
  ]
  await using t = await setup([], { admin: { routes } })
  const line = 'PATCH /admin/api/sources/7'
  expect(await t.call(line, { body: { name: 'n' } })).toMatchObject({ status: 401 })
  expect(await t.call(line, { token: await t.token('viewer'), body: { name: 'n' } })).toMatchObject({ status: 403 })
  const token = await t.token('operator')
  expect(await t.call(line, { token, body: { name: 5 } })).toMatchObject({ status: 400 })
  expect((await t.call(line, { token, body: { name: 'n' } })).body).toEqual({
    id: '7',
    name: 'n',
    by: expect.any(String),
  })
  expect(await t.millrace.audit.list({ action: 'source.rename' })).toMatchObject([{ target: '7', source: 'http' }])
  expect(await t.call('GET /hello')).toMatchObject({ status: 200, body: { hello: 'world' } })
  const { body } = await t.call('GET /admin/api/openapi.json', { token })
  expect(body.paths).toHaveProperty(['/admin/api/sources/{id}', 'patch', 'summary'], 'Rename a source')
  expect((await new Validator().validate(body)).valid).toBe(true)
})
