import { expect, test, vi } from 'vitest'
import { bench } from './run-bench.ts'

vi.setConfig({ testTimeout: 180_000 })

test('small organizations of Dartwing are measured alone, beside a large one, and without isolation', async () => {
  const { code, out } = await bench(['dartwing', '--json', '--rounds', '1', '--seconds', '2', '--jobs', '50'])
  expect(code).toBe(0)
  const { measurements, ratios } = JSON.parse(out)
  expect(measurements.map(({ name, unit }: { name: string; unit: string }) => `${name}: ${unit}`)).toEqual(
    ['alone', 'beside', 'control'].flatMap((scene) =>
      ['fax p50', 'fax p95', 'change p50', 'change p95'].map((figure) => `${scene}, ${figure}: ms`),
    ),
  )
  for (const { min } of measurements) expect(min).toBeGreaterThanOrEqual(0)
  expect(ratios).toHaveLength(4)
})
