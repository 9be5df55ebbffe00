// The elevation job on the sample municipality, against a server that renders its terrain.
import { randomUUID } from 'node:crypto'
import { assert, expect, test, vi } from 'vitest'
import { climbOf } from '#src/elevation/profile'
import { verticesOf } from '#src/geometry/feature'
import { type Point, toPlane, toWorld } from '#src/geometry/projection'
import { saveSite } from '#src/registry/save-site'
import { siteOf } from '#src/registry/sites'
import { LAND } from '#src/sandbox/landscape'
import { ridgeRoute } from '#src/sandbox/sample-routes'
import { heightAt } from '#src/sandbox/terrain'
import type { Fault } from '#src/sandbox/wcs'
import { type Lipas, setup } from '../support/lipas.ts'

const run = (t: Lipas, lipasId: number) => t.run('elevation', { 'lipas-id': lipasId }, { dedupKey: randomUUID() })
const heightsStored = async (t: Lipas, lipasId: number) => {
  const site = await siteOf(t.system.database, lipasId)
  return verticesOf(site?.geometries ?? { type: 'FeatureCollection', features: [] })
}
const [POINT, AREA, RIDGE] = [123, 5_678, 12_345]

test('points, lines and areas get the height of the terrain at every vertex, within 10 cm', async () => {
  await using t = await setup({ hasSampleData: true })
  const [route] = await t.sql<{ id: number }>(
    `select lipas_id as id from lipas.sports_site order by length(geometries::text) desc offset 20 limit 1`,
  )
  for (const lipasId of [POINT, AREA, RIDGE, route?.id ?? 0]) {
    const report = await run(t, lipasId)
    assert(report.outcome === 'completed', JSON.stringify(report))
    const vertices = await heightsStored(t, lipasId)
    expect((report.result as { vertices: number }).vertices).toBe(vertices.length)
    const wrong = vertices.filter((each) => !(Math.abs((each[2] ?? Number.NaN) - heightAt(toPlane(each))) < 0.1))
    expect(wrong).toEqual([])
  }
})

test('the ridge route climbs and falls as the terrain does, within 1 %', async () => {
  await using t = await setup({ hasSampleData: true })
  const report = await run(t, RIDGE)
  assert(report.outcome === 'completed')
  const dense = ridgeRoute().flatMap((from, i, all) => {
    const to = all[i + 1] ?? from
    return Array.from(
      { length: 10 },
      (_, part): Point => [from[0] + ((to[0] - from[0]) * part) / 10, from[1] + ((to[1] - from[1]) * part) / 10],
    )
  })
  const { ascent, descent } = climbOf(dense.map(heightAt))
  const found = report.result as { 'ascent-m': number; 'descent-m': number }
  expect(Math.abs(found['ascent-m'] - ascent)).toBeLessThan(ascent * 0.01)
  expect(Math.abs(found['descent-m'] - descent)).toBeLessThan(descent * 0.01)
  const site = await siteOf(t.system.database, RIDGE)
  const line = site?.elevation?.lines[0]
  expect(line?.['length-2d-m']).toBeCloseTo(Math.hypot(2_500, 500), 0)
  expect(line?.['length-3d-m']).toBeGreaterThan(line?.['length-2d-m'] ?? 0)
})

test('at most 4 requests at a time go out for a job, and 8 for all', { timeout: 90_000 }, async () => {
  await using t = await setup({ hasSampleData: true })
  const { wcs } = t.sandbox
  const real = wcs.answer.bind(wcs)
  let [atOnce, most] = [0, 0]
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  wcs.answer = async (call) => {
    most = Math.max(most, ++atOnce)
    await opened
    return real(call).finally(() => {
      atOnce -= 1
    })
  }
  // Routes of medium length: each needs more than four pieces of the elevation model.
  const routes = await t.sql<{ id: number }>(
    `select lipas_id as id from lipas.sports_site order by length(geometries::text) desc offset 20 limit 3`,
  )
  const enqueue = ({ id }: { id: number }) => t.millrace.enqueueByType('elevation', { 'lipas-id': id })
  const [first, ...others] = routes
  const jobs = [await enqueue(first as { id: number })]
  await t.work()
  await vi.waitUntil(() => atOnce === 4, { timeout: 20_000 })
  jobs.push(...(await Promise.all(others.map(enqueue))))
  await vi.waitUntil(() => atOnce === 8, { timeout: 20_000 })
  open()
  for (const { id } of jobs) expect((await t.millrace.result(id, { timeout: '60s' })).status).toBe('completed')
  expect(most).toBe(8)
})

const failures: ReadonlyArray<[what: string, fault: Fault | 'down', told: RegExp]> = [
  ['503', 'down', /answered 503/],
  ['a GeoTIFF that was cut off', 'cut-off', /cannot be read|heights/],
  ['the raster of another box', 'another-box', /another box/],
  ['HTML', 'html', /text\/html instead of a GeoTIFF/],
]

test('every wrong answer fails the attempt, and no part of the geometry is stored', async () => {
  await using t = await setup({ hasSampleData: true })
  for (const [what, fault, told] of failures) {
    if (fault === 'down') t.sandbox.set('wcs', 'down')
    else t.sandbox.wcs.fault = fault
    const report = await run(t, RIDGE)
    assert(report.outcome === 'retry', `${what}: ${JSON.stringify(report)}`)
    expect(report.failure.message, what).toMatch(told)
    expect(report.failure.message, what).not.toContain('127.0.0.1')
    t.sandbox.set('wcs', 'ok')
    t.sandbox.wcs.fault = undefined
  }
  const vertices = await heightsStored(t, RIDGE)
  expect(vertices.every(({ length }) => length === 2)).toBe(true)
  expect(await siteOf(t.system.database, RIDGE)).toMatchObject({ elevation: null, elevationOf: null })
})

test('a service that asks to wait is waited for, and no attempt is used', async () => {
  await using t = await setup({ hasSampleData: true })
  t.sandbox.set('wcs', 'limited')
  for (let i = 0; i < 6; i += 1) expect(await run(t, 123)).toMatchObject({ outcome: 'snoozed', delayMs: 2_000 })
  expect(await t.millrace.breakers.get('elevation-service')).toMatchObject({ state: 'closed' })
})

test('a service that answers nothing fails the attempt when its time is over', async () => {
  await using t = await setup({ hasSampleData: true, times: { elevationWithinMs: 200 } })
  t.sandbox.wcs.fault = 'silent'
  expect(await run(t, RIDGE)).toMatchObject({ outcome: 'retry', failure: { message: /did not answer within/ } })
  expect(await siteOf(t.system.database, RIDGE)).toMatchObject({ elevation: null, elevationOf: null })
})

test('no data and a place outside of the coverage are dead at once', async () => {
  await using t = await setup({ hasSampleData: true })
  const wrong: ReadonlyArray<[Point, RegExp]> = [
    [[LAND.minEast + 9_300, LAND.minNorth + 9_100], /no data/],
    [[LAND.minEast - 5_000, LAND.minNorth], /outside of its coverage/],
  ]
  for (const [point, told] of wrong) {
    const coordinates = toWorld(point)
    await saveSite(t.system, {
      ...{ lipasId: POINT, by: 'test', correlationId: 'test', at: new Date() },
      change: {
        geometries: {
          type: 'FeatureCollection',
          features: [{ type: 'Feature', geometry: { type: 'Point', coordinates } }],
        },
      },
    })
    const report = await run(t, POINT)
    assert(report.outcome === 'dead', JSON.stringify(report))
    expect(report.failure.message).toMatch(told)
  }
  expect((await run(t, 999_999)).outcome).toBe('dead')
})
