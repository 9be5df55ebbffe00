// The analysis with walking distances, from a router over the streets of the sample municipality.
import { drain } from 'millrace/testing'
import { assert, expect, test } from 'vitest'
import { distanceBetween } from '#src/geometry/distance'
import type { Point } from '#src/geometry/projection'
import { riverAt } from '#src/sandbox/landscape'
import { Osrm } from '#src/sandbox/osrm'
import { spot } from '#src/sandbox/sample-places'
import { expectBruteForce, storedCells } from '../support/brute-force.ts'
import { setup } from '../support/lipas.ts'

test('the diversity of squares equals that of plain computing over the streets', async () => {
  await using t = await setup({ hasSampleData: true })
  const report = await t.run('analysis', { 'lipas-id': 123 })
  assert(report.outcome === 'completed', JSON.stringify(report))
  expect(report.result).toMatchObject({ mode: 'route' })
  expect((await storedCells(t)).size).toBeGreaterThan(100)
  await expectBruteForce(t, { metres: (from, to) => t.sandbox.osrm.metres(from, to), isPartial: true })
})

test('a place beyond the river is as far as the way over the bridge', () => {
  const osrm = new Osrm()
  const across = (north: number): [Point, Point] => {
    const [, y] = spot(0, north)
    return [
      [riverAt(y) - 250, y],
      [riverAt(y) + 250, y],
    ]
  }
  const [west, east] = across(4_100)
  expect(distanceBetween(west, east)).toBe(500)
  // The bridges are 1,900 and 2,000 m away: there and back again is too far.
  expect(osrm.metres(west, east)).toBeGreaterThan(3_000)
  const [near, other] = across(6_000)
  expect(osrm.metres(near, other)).toBeLessThan(1_500)
})

test('a router that asks to wait is waited for; one that fails, or sends another table, fails the attempt', async () => {
  await using t = await setup({ hasSampleData: true })
  const { osrm } = t.sandbox
  const { id } = await t.millrace.enqueueByType('analysis', { 'lipas-id': 123 })
  const attempt = async () => {
    const [report] = await drain(t.millrace, [t.handler('analysis')])
    assert(report?.outcome === 'retry', JSON.stringify(report))
    await t.millrace.runNow(id, { by: 'test' })
    return report.failure.message
  }
  t.sandbox.set('osrm', 'limited')
  expect(await drain(t.millrace, [t.handler('analysis')])).toMatchObject([{ outcome: 'snoozed', delayMs: 2_000 }])
  await t.millrace.runNow(id, { by: 'test' })
  t.sandbox.set('osrm', 'down')
  expect(await attempt()).toBe('The router answered 503.')
  t.sandbox.set('osrm', 'ok')
  const real = osrm.answer.bind(osrm)
  osrm.answer = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'Ok', distances: [[1]] }),
  })
  expect(await attempt()).toMatch(/did not send a table of 50 by \d+ distances/)
  osrm.answer = real
  expect(await drain(t.millrace, [t.handler('analysis')])).toMatchObject([{ outcome: 'completed' }])
})
