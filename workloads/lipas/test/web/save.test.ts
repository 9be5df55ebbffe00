// POST /lipas/api/sites/:id: the place, its reminder and its work, in one transaction and under one correlation id.
import { expect, test } from 'vitest'
import { oneHall, pointAt, type WebSetup, webSetup } from '../support/web.ts'

const PATH = '/lipas/api/sites/7'

async function hall() {
  const t = await webSetup({ times: { clock: { now: () => new Date('2026-11-19T10:00:00Z') } } })
  await oneHall(t)
  const token = await t.token('operator')
  return Object.assign(t, {
    operator: token,
    save: (body: object, path = PATH) => t.call(`POST ${path}`, { token, body }),
  })
}

const stored = async (t: WebSetup) =>
  (await t.sql(`select name, status, revision::int, event_date as at, geometries from lipas.sports_site`))[0]

const reminders = (t: WebSetup) =>
  t.sql(`select status, event_date as at from lipas.reminder where lipas_id = 7 order by event_date`)

test('a save writes the place, moves its reminder by a year, and enqueues its work under one correlation id', async () => {
  await using t = await hall()
  const { status, body } = await t.save({ name: 'Hall of <b>fame</b>', move: { east: 120, north: -40 } })
  expect(status).toBe(200)
  expect(body.jobs.map(({ type, status: how }: { type: string; status: string }) => [type, how])).toEqual([
    ['elevation', 'queued'],
    ['analysis', 'queued'],
    ['webhook', 'queued'],
    ['email', 'queued'],
  ])
  expect(await stored(t)).toMatchObject({ name: 'Hall of <b>fame</b>', revision: body.revision })
  expect(await reminders(t)).toEqual([{ status: 'pending', at: new Date('2027-11-19T10:00:00Z') }])
  const trace = await t.call(`GET /lipas/api/trace/${body['correlation-id']}`, { token: t.operator })
  expect(trace.body.jobs.map(({ id }: { id: string }) => id).sort()).toEqual(
    body.jobs.map(({ id }: { id: string }) => id).sort(),
  )
  const [mail] = (await t.millrace.jobsByCorrelation(body['correlation-id'])).jobs.filter((job) => job.type === 'email')
  expect(mail).toMatchObject({ createdBy: 'operator 1', payload: { to: 'owner@example.org' } })
})

test('a save without a change confirms the entry, and computes no heights', async () => {
  await using t = await hall()
  const { body } = await t.save({})
  expect(body.jobs.map(({ type }: { type: string }) => type)).toEqual(['analysis', 'webhook', 'email'])
  expect(await stored(t)).toMatchObject({ name: 'Hall', at: new Date('2026-11-19T10:00:00Z') })
})

test('a place that is closed for good has no reminder any more', async () => {
  await using t = await hall()
  await t.save({ status: 'out-of-service-permanently' })
  expect(await reminders(t)).toMatchObject([{ status: 'done' }])
})

test('a write that fails leaves nothing, whichever of them it is', async () => {
  await using t = await hall()
  const before = [await stored(t), await reminders(t)]
  await t.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`)
  for (const table of ['lipas.sports_site', 'lipas.reminder', 'millrace.job', 'millrace.audit_log']) {
    await t.sql(`create trigger refusing before insert or update on ${table} for each row execute function refuse()`)
    expect((await t.save({ name: 'Other' })).status, table).toBe(500)
    expect([await stored(t), await reminders(t)], table).toEqual(before)
    expect(await t.sql('select 1 from millrace.jobs'), table).toEqual([])
    await t.sql(`drop trigger refusing on ${table}`)
  }
  expect((await t.save({ name: 'Other' })).status).toBe(200)
})

test('work that waits already behind that of users comes forward, and the trace names it as joined', async () => {
  await using t = await hall()
  const { analysis } = await import('#src/contracts')
  const first = await t.millrace.enqueue(analysis, { 'lipas-id': 7 }, { priority: 200 })
  const { body } = await t.save({ name: 'Other' })
  expect(body.jobs).toContainEqual({ type: 'analysis', id: first.id, status: 'duplicate' })
  expect((await t.millrace.job(first.id))?.priority).toBe(100)
  const path = `/lipas/api/trace/${body['correlation-id']}?also=${first.id}`
  const { body: trace } = await t.call(`GET ${path}`, { token: t.operator })
  expect(trace.jobs.find(({ id }: { id: string }) => id === first.id)).toMatchObject({ 'is-joined': true })
})

test('what does not fit is refused by name, and nothing is written', async () => {
  await using t = await hall()
  const wrong: [body: object, path: string][] = [
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ status: 'closed' }, 'status'],
    [{ 'owner-email': 'x' }, 'owner-email'],
    [{ move: { east: 1 } }, 'move.north'],
    [{ move: { east: 30_000, north: 0 } }, 'move.east'],
    [{ geometries: { type: 'FeatureCollection', features: [] } }, 'geometries.features'],
    [{ geometries: pointAt(250, 60) }, 'geometries'],
    [{ nmae: 'Other' }, 'nmae'],
  ]
  for (const [body, path] of wrong) {
    const answer = await t.save(body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain(path)
  }
  expect(await stored(t)).toMatchObject({ name: 'Hall' })
  expect(await t.sql('select 1 from millrace.jobs')).toEqual([])
})

test('a hall does not become a line, and a place that is not there cannot be saved', async () => {
  await using t = await hall()
  const line = { type: 'LineString', coordinates: [[25, 60], [25.1, 60.1]] } // biome-ignore format: one line reads better
  const geometries = { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: line }] }
  const wrong = await t.save({ geometries })
  expect([wrong.status, wrong.body.detail]).toEqual([
    400,
    'geometries: Hall is a Point, and a LineString was sent. Send features of type Point only.',
  ])
  expect(await t.save({}, '/lipas/api/sites/8')).toMatchObject({ status: 404 })
  expect(await t.save({}, '/lipas/api/sites/abc')).toMatchObject({ status: 400 })
})
