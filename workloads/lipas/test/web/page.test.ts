// The page /lipas as a document, what it reads from below, and who may do what.
import { walkRoles } from '@millrace/admin/testing'
import { expect, test } from 'vitest'
import { services } from '#src/contracts'
import { siteOf } from '#src/registry/sites'
import { siteDocument as searchDocument } from '#src/search/documents'
import { oneHall, type WebSetup, webSetup } from '../support/web.ts'

const HOSTILE = `<img src=x onerror=alert(1)>"'></text><script>alert(2)</script>`
const HTML = { headers: { accept: 'text/html' } }

async function square(t: WebSetup, { population = 120 } = {}): Promise<void> {
  await t.sql(
    `insert into lipas.population_cell values ('c1', '(390000,6678000)', ${population}, 20, 80, 20, 'Kaislajoki')`,
  )
}

const index = async (t: WebSetup, id: number): Promise<void> => {
  const site = await siteOf(t.system.database, id)
  if (site !== undefined) await t.system.search.upsert('sites', searchDocument(site))
  await t.system.search.refresh('sites')
}

test('an empty register says so, and offers nothing that cannot be', async () => {
  await using t = await webSetup()
  const page = await (await t.send('GET /lipas')).text()
  expect(page).toContain('The register is empty.')
  expect(page).toContain('No place chosen')
  expect(page).not.toContain('Infinity')
  expect(page).not.toContain('NaN')
})

test('visitors see map and places; lanes, forms and mails are for those who are logged in', async () => {
  await using t = await webSetup()
  await oneHall(t)
  const [visitor, viewer, operator] = await Promise.all(
    [undefined, await t.token('viewer'), await t.token('operator')].map(async (token) =>
      (await t.send('GET /lipas?site=7', { token })).text(),
    ),
  )
  expect(visitor).toContain('>Hall</h2>')
  expect(visitor).not.toMatch(/email-service|data-save|owner@example\.org|data-trouble|127\.0\.0\.1/)
  expect(viewer).toContain('email-service')
  expect(viewer).not.toMatch(/data-save|data-trouble=/)
  expect(operator).toMatch(/data-save="7"[\s\S]*data-trouble="mail-down"/)
})

test('each route and page is open to its role alone, and changes are in the audit log', async () => {
  await using t = await webSetup()
  await oneHall(t)
  const { routes = [], pages = [] } = t.workload
  const ofRoutes = await walkRoles(t.millrace, {
    routes,
    requests: {
      'POST /lipas/api/sites/:id': { params: { id: '7' }, body: { name: 'Other' } },
      'POST /lipas/api/mass-import': { body: { ids: [7, 8], 'reply-to': 'user@example.com' } },
      'POST /lipas/api/trouble': { body: { name: 'mail-down', on: true } },
      'GET /lipas/api/trace/:correlation': { params: { correlation: 'abc' } },
    },
  })
  const ofPages = await walkRoles(t.millrace, {
    pages,
    requests: {
      'GET /lipas/api/sites': { query: { q: 'hall' } },
      'GET /lipas/api/map': {},
      'GET /lipas/api/sites/7': {},
    },
  })
  const faults = [...ofRoutes.faults, ...ofPages.faults]
  expect(faults).toEqual([])
})

test('a hostile name is text wherever it is shown, and nothing runs', async () => {
  await using t = await webSetup()
  await oneHall(t, HOSTILE)
  await index(t, 7)
  const token = await t.token('operator')
  const response = await t.send('GET /lipas?site=7&q=%22%3E%3Cscript%3E', { token })
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  const page = await response.text()
  expect(page.match(/<script\b[^>]*>/g)).toEqual(['<script src="lipas/lipas.js" defer>'])
  const map = await t.call('GET /lipas/api/map')
  const pieces = [page, map.body.places[0].svg, await (await t.send('GET /lipas/api/sites?q=img', HTML)).text()]
  for (const piece of pieces) {
    expect(piece).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(piece).not.toMatch(/<img|<script>/)
  }
})

test('the map tells the level of every square, and places that were saved since', async () => {
  await using t = await webSetup()
  await oneHall(t)
  await square(t)
  const before = await t.call('GET /lipas/api/map')
  expect(before.body).toMatchObject({ levels: '-', places: [{ 'lipas-id': 7 }] })
  const etag = before.headers.get('etag') ?? ''
  const again = await t.send('GET /lipas/api/map', { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  await t.sql(`insert into lipas.diversity_cell values ('c1', 4, '{}', '{}', 1)`)
  await expect.poll(async () => (await t.call('GET /lipas/api/map')).body.levels).toBe('3')
  expect(await t.call('GET /lipas/api/map?since=x')).toMatchObject({ status: 400 })
})

test('a square with fewer than ten people does not tell how many', async () => {
  await using t = await webSetup()
  await square(t, { population: 9 })
  expect((await t.call('GET /lipas/api/squares/c1')).body.population).toBeNull()
  expect(await (await t.send('GET /lipas/api/squares/c1', HTML)).text()).toContain('fewer than 10 people')
  await t.sql('update lipas.population_cell set population = 10')
  expect((await t.call('GET /lipas/api/squares/c1')).body.population).toBe(10)
  expect(await t.call('GET /lipas/api/squares/%')).toMatchObject({ status: 404 })
})

test('the search asks the index, and while its breaker is open it says so and asks nobody', async () => {
  await using t = await webSetup()
  await oneHall(t)
  await index(t, 7)
  expect((await t.call('GET /lipas/api/sites?q=hal')).body).toMatchObject({ total: 1, sites: [{ 'lipas-id': 7 }] })
  expect(await (await t.send('GET /lipas/api/sites?q=none', HTML)).text()).toContain('No place matches “none”')
  await t.millrace.breakers.trip(services.search.name, { by: 'test', for: '10m' })
  const closed = async () => (await t.send('GET /lipas/api/sites?q=hal', HTML)).text()
  await expect.poll(closed).toContain('its breaker is open')
  const calls = t.sandbox.received.count('search')
  expect((await t.call('GET /lipas/api/sites?q=hal')).status).toBe(503)
  expect(t.sandbox.received.count('search')).toBe(calls)
  await t.millrace.breakers.reset(services.search.name, { by: 'test' })
  await expect.poll(closed).toContain('Hall')
})

test('a search service that fails is told of, and counts for its breaker', async () => {
  await using t = await webSetup()
  t.sandbox.set('search', 'down')
  expect(await (await t.send('GET /lipas/api/sites?q=hal', HTML)).text()).toContain('did not answer')
  expect(await t.millrace.breakers.get(services.search.name)).toMatchObject({ failureCount: 1 })
})

test('trouble throws a switch of the sandbox; without a sandbox there is none to throw', async () => {
  await using t = await webSetup()
  const token = await t.token('operator')
  const trouble = (body: object) => t.call('POST /lipas/api/trouble', { token, body })
  const states = async () => (await t.call('GET /lipas/api/board', { token })).body.trouble
  expect(await trouble({ name: 'partner-429', on: true })).toMatchObject({ status: 200 })
  await expect.poll(states).toMatchObject({ 'partner-429': true, 'mail-down': false })
  await trouble({ name: 'partner-429', on: false })
  await expect.poll(states).toMatchObject({ 'partner-429': false })
  expect(await trouble({ name: 'flood', on: true })).toMatchObject({ status: 400 })
  Object.defineProperty(t.system, 'sandboxUrl', { value: undefined })
  expect(await trouble({ name: 'partner-429', on: true })).toMatchObject({ status: 404 })
  await expect.poll(states).toBeNull()
})

test('the page is read only, and small; what is not there says so', async () => {
  await using t = await webSetup()
  expect(await t.call('DELETE /lipas', { token: await t.token('admin') })).toMatchObject({ status: 405 })
  expect((await t.send('GET /lipas/nothing')).status).toBe(404)
  expect(await t.call('GET /lipas/api/sites/9')).toMatchObject({ status: 404 })
  expect((await t.send('GET /lipas/')).headers.get('location')).toBe('/lipas')
  expect((await (await t.send('GET /lipas/lipas.js')).text()).length).toBeLessThan(10_000)
  expect((await t.send('GET /lipas/lipas.css')).headers.get('content-type')).toBe('text/css; charset=utf-8')
})
