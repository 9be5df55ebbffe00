import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, ...args], { env: { ...process.env, DATABASE_URL: inject('serverUrl') } })

test('--list names every scenario and what it must fail under', async () => {
  const { stdout } = await run('--list')
  expect(stdout).toMatch(/f14-interleavings\n {4}.+\n {4}must fail under: unfenced-settle/)
})

test('--json prints one document, progress goes to stderr', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await run('f13', '--short', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ scale: 'short', reports: [{ scenario: 'f13-claim-race', isGreen: true }] })
  expect(stderr).toContain('▸ f13-claim-race')
})

test('an unknown scenario is refused with the known ones', async () => {
  await expect(run('f99')).rejects.toThrow(/There is no scenario "f99"\. Known: f01-kill-storm/)
})

test('--help says what there is to choose, and what is not understood is refused with it', async () => {
  expect((await run('--help')).stdout).toMatch(/^usage: npm run faults .*--mutate/s)
  await expect(run('--nope')).rejects.toThrow(/Unknown option '--nope'.*\n\nusage: /s)
  await expect(run('--seed', 'x')).rejects.toThrow(/--seed takes a whole number, not "x"\./)
})
