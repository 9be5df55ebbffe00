import { describe, expect, test } from 'vitest'
import { arePeersInstalled } from '#src/peers/install'
import { idleOf, jainOf } from '#src/tenants/shares'
import { bench, names, reportOf } from './run-bench.ts'

test('fairness prints its five figures beside the report', async () => {
  const args = ['fairness', '--rounds', '1', '--jobs', '2000', '--seconds', '1', '--scale', '0.01']
  const { measurements, ratios, ...document } = await reportOf(args, { mayBeZero: /idle|error/ })
  const share = { median: expect.any(Number), target: expect.any(Object), isMet: expect.any(Boolean) }
  expect(names(ratios)).toEqual([
    'wait beside a large tenant / alone',
    "Jain's index of equal tenants",
    'worst error of a share by weight',
    'drain of 50 tenants / without',
    'drain of 500 tenants / without',
    'drain of 5,000 tenants / without',
  ])
  for (const ratio of ratios) expect(ratio).toMatchObject(share)
  const idle = measurements.find(({ name }) => name === 'equal tenants, idle')
  expect(idle).toMatchObject({ unit: 'slot-seconds', target: { atMost: 1 } })
  const [wait, jain, error, of50, of500, of5000] = ratios.map(({ median }) => median)
  expect(document).toMatchObject({
    smallTenantWaitRatio: wait,
    jain,
    worstShareError: error,
    idleSlotSeconds: idle?.median,
    governedToPlain: { 50: of50, 500: of500, 5000: of5000 },
  })
  expect(jain).toBeLessThanOrEqual(1)
  const figures = {
    smallTenantWaitRatio: expect.any(Number),
    waitP95: expect.any(Number),
    idleShare: expect.any(Number),
  }
  expect(document).toMatchObject({ pgBossGroups: arePeersInstalled() ? figures : null })
}, 180_000)

describe('shares', () => {
  test("Jain's index is 1 if all get the same and 1/n if one gets everything", () => {
    expect(jainOf([7, 7, 7, 7])).toBe(1)
    expect(jainOf([7, 0, 0, 0])).toBe(0.25)
  })

  test('slots are idle for what no handler has used of them within the span', () => {
    const run = (startedMs: number, endedMs: number) => ({ startedMs, endedMs })
    expect(idleOf([], 0, 1_000)).toBe(20)
    // Before, over the beginning, within, over the end.
    const runs = [run(-50, -10), run(-100, 100), run(200, 500), run(900, Number.POSITIVE_INFINITY)]
    expect(idleOf(runs, 0, 1_000)).toBeCloseTo(20 - 0.1 - 0.3 - 0.1)
  })
})

test('the list of suites has it', async () => {
  expect((await bench([])).out).toMatch(/^ {2}fairness +tenants that share a queue/m)
})
