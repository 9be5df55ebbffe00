// A place that is saved while its jobs wait, run or wait for their retry: one job at a time, and the newer place wins.
import type { Call } from '@millrace/sandbox'
import { drain } from 'millrace/testing'
import { expect, test, vi } from 'vitest'
import { verticesOf } from '#src/geometry/feature'
import { toPlane } from '#src/geometry/projection'
import { type SiteChange, saveSite, saveSiteIn } from '#src/registry/save-site'
import { siteOf } from '#src/registry/sites'
import { heightAt } from '#src/sandbox/terrain'
import { expectBruteForce } from '../support/brute-force.ts'
import { holdNext } from '../support/hold.ts'
import { type Lipas, setup } from '../support/lipas.ts'

const PLACE = 123
const MOVE: SiteChange = { move: { east: 300, north: 200 } }
const isBulk = ({ path }: Call): boolean => path.endsWith('/_bulk')
const start = () => setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: 'euclid' } })
const saveOf = (change: SiteChange) => ({
  ...{ lipasId: PLACE, change, by: 'test', correlationId: 'save' },
  at: new Date(),
})
const enqueue = (t: Lipas, type = 'analysis') => t.millrace.enqueueByType(type, { 'lipas-id': PLACE })
const runOnce = async (t: Lipas, type = 'analysis') => (await drain(t.millrace, [t.handler(type)]))[0]

test('a second analysis is a duplicate while the first waits, runs or waits for its retry, and is new afterwards', async () => {
  await using t = await start()
  const { id, status } = await enqueue(t)
  expect(status).toBe('queued')
  expect(await enqueue(t)).toMatchObject({ id, status: 'duplicate' })
  const held = holdNext(t.sandbox.search, isBulk)
  const failing = runOnce(t)
  await held.reached
  expect(await enqueue(t)).toMatchObject({ id, status: 'duplicate' })
  held.release({ status: 503, body: 'down' })
  expect(await failing).toMatchObject({ outcome: 'retry' })
  expect(await enqueue(t)).toMatchObject({ id, status: 'duplicate' })
  await t.millrace.runNow(id, { by: 'test' })
  expect(await runOnce(t)).toMatchObject({ outcome: 'completed' })
  const next = await enqueue(t)
  expect(next.status).toBe('queued')
  expect(next.id).not.toBe(id)
})

test('a place that is saved while it is analysed is analysed again, by the same job', async () => {
  await using t = await start()
  const { id } = await enqueue(t)
  const held = holdNext(t.sandbox.search, isBulk)
  const first = runOnce(t)
  await held.reached
  const saved = await saveSite(t.system, saveOf(MOVE))
  expect(saved?.jobs).toContainEqual(expect.objectContaining({ type: 'analysis', id, status: 'duplicate' }))
  held.release()
  expect(await first).toMatchObject({ outcome: 'snoozed', delayMs: 1_000 })
  await t.millrace.runNow(id, { by: 'test' })
  expect(await runOnce(t)).toMatchObject({ outcome: 'completed', job: { id, attempt: 1 } })
  await expectBruteForce(t, { isPartial: true })
})

test('an analysis that ends while a save is not yet committed waits for it, and runs again', async () => {
  await using t = await start()
  await enqueue(t)
  const held = holdNext(t.sandbox.search, isBulk)
  const first = runOnce(t)
  await held.reached
  await t.system.database.transaction(async (tx) => {
    await saveSiteIn(tx, t.millrace, saveOf(MOVE))
    held.release()
    // The analysis has come to its end, and waits for this transaction.
    await vi.waitUntil(
      async () => {
        const waiting = await t.sql(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%'`,
        )
        return waiting.length > 0
      },
      { timeout: 20_000 },
    )
  })
  expect(await first).toMatchObject({ outcome: 'snoozed' })
})

test('a place that is moved while its heights are computed gets those of where it is now', async () => {
  await using t = await start()
  const { id } = await enqueue(t, 'elevation')
  const held = holdNext(t.sandbox.wcs)
  const first = runOnce(t, 'elevation')
  await held.reached
  const saved = await saveSite(t.system, saveOf(MOVE))
  expect(saved?.jobs).toContainEqual(expect.objectContaining({ type: 'elevation', id, status: 'duplicate' }))
  held.release()
  expect(await first).toMatchObject({ outcome: 'snoozed' })
  expect((await siteOf(t.system.database, PLACE))?.elevationOf).toBeNull()
  await t.millrace.runNow(id, { by: 'test' })
  expect(await runOnce(t, 'elevation')).toMatchObject({ outcome: 'completed' })
  const site = await siteOf(t.system.database, PLACE)
  expect(site?.elevationOf).toBe(saved?.revision)
  const [vertex = []] = verticesOf(site?.geometries ?? { type: 'FeatureCollection', features: [] })
  expect(Math.abs((vertex[2] ?? 0) - heightAt(toPlane(vertex)))).toBeLessThan(0.1)
})

test('a place that is renamed keeps its heights', async () => {
  await using t = await start()
  await t.run('elevation', { 'lipas-id': PLACE })
  const saved = await saveSite(t.system, saveOf({ name: 'Renamed' }))
  expect(saved?.jobs.map(({ type }) => type)).not.toContain('elevation')
  expect(await siteOf(t.system.database, PLACE)).toMatchObject({ name: 'Renamed', elevationOf: saved?.revision })
})
