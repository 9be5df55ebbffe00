// The walk that workloads run over their own routes and pages: it finds nothing where all is well, and each kind of fault.
import { type Page, type Route, route } from '@millrace/admin'
import { type Endpoint, endpoint } from '@millrace/admin/contract'
import { type RoleWalkOptions, walkRoles } from '@millrace/admin/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from './support/setup.ts'

const rename = endpoint({
  method: 'PATCH',
  path: '/admin/api/sources/:id',
  permission: 'operator',
  scope: 'all',
  summary: 'Rename a source',
  input: z.object({ id: z.string(), name: z.string() }),
  output: z.object({ id: z.string(), name: z.string() }),
})
const notes = endpoint({
  method: 'GET',
  path: '/admin/api/notes',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'List notes',
  input: z.object({ tenant: z.string().optional() }),
  output: z.object({ notes: z.array(z.string()) }),
})
const hello = endpoint({ ...notes, path: '/hello', permission: 'public', scope: 'all', output: z.object({}) })

const renaming = route(rename, async (input, { by, millrace }) => {
  await millrace.audit.write({ by, action: 'source.rename', target: input.id })
  return input
})
const noting = route(notes, async (_, { caller }) => ({ notes: caller.tenants === null ? ['of acme'] : [] }))
const greeting = route(hello, async () => ({}))
const page: Page = { path: '/village', title: 'Village', handle: () => new Response('hello') }
const office: Page = { path: '/office', title: 'Office', permission: 'operator', handle: () => new Response('papers') }

const requests = { 'PATCH /admin/api/sources/:id': { params: { id: '7' }, body: { name: 'n' } } }

async function walked(options: RoleWalkOptions) {
  await using t = await setup([])
  return await walkRoles(t.millrace, { requests, owner: 'acme', ...options })
}

test('a workload whose routes and pages are as they say has no fault', async () => {
  const { faults, checks } = await walked({
    routes: [renaming, noting, greeting],
    pages: [page, office],
    requests: { ...requests, 'GET /office/papers': {}, 'GET /village/map': { query: { zoom: '3' } } },
  })
  expect(faults).toEqual([])
  expect(checks).toBeGreaterThan(30)
})

const as = (change: Partial<Endpoint>, handle: Route['handle']): Route =>
  route({ ...rename, ...change } as typeof rename, handle as never)
const answer = async (input: object) => input

test.each<[string, RoleWalkOptions, RegExp]>([
  ['leaves no trace', { routes: [as({}, answer)] }, /^PATCH .* leaves no entry in the audit log/],
  ['shows what is not theirs', { routes: [route(notes, async () => ({ notes: ['of acme'] }))] }, /something of acme/],
  [
    'finds what is not theirs',
    { routes: [as({ scope: 'tenant' }, answer)] },
    /answers 200 to an admin of another tenant: expected 404/,
  ],
  ['answers otherwise', { routes: [as({}, async () => ({ id: 7 }))] }, /does not answer as it declares: id:/],
  ['fails', { routes: [route(notes, () => Promise.reject(new Error('no')))] }, /fails with 500 for the role viewer/],
  [
    'asks for more than it says',
    { pages: [{ ...page, handle: () => new Response('no', { status: 403 }) }] },
    /GET \/village refuses a caller without a token, with 403/,
  ],
  ['is called for nothing', { routes: [renaming], requests: {} }, /cannot be called: name id in the params/],
  [
    'is called wrongly',
    { routes: [renaming], requests: { 'PATCH /admin/api/sources/:id': { params: { id: '7' } } } },
    /answers 400 even where it is permitted, so nothing is proven/,
  ],
  ['is mistyped', { routes: [noting], requests: { 'GET /nots': {} } }, /no route or page for the request "GET \/nots"/],
])('a route that %s is a fault', async (_, options, fault) => {
  const { faults } = await walked(options)
  expect(faults).toEqual(expect.arrayContaining([expect.stringMatching(fault)]))
})

test('a route for callers of a tenant needs an owner of what it shows', async () => {
  await using t = await setup([])
  const { faults } = await walkRoles(t.millrace, { routes: [noting] })
  expect(faults).toEqual([expect.stringMatching(/name the `owner`/)])
})

test('what only reads by POST may say so', async () => {
  const routes = [as({}, answer)]
  const reading = {
    'PATCH /admin/api/sources/:id': { ...requests['PATCH /admin/api/sources/:id'], changesNothing: true },
  }
  expect((await walked({ routes, requests: reading as never })).faults).toEqual([])
})
