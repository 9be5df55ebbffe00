import { expect, test } from 'vitest'
import { setup as base } from './support/setup.ts'

async function setup() {
  const t = await base()
  return { ...t, run: (...args: string[]) => t.run('breakers', ...args) }
}

test('breakers are listed, opened by hand and reset, and who did it is written down', async () => {
  await using t = await setup()
  expect(await t.run()).toMatchObject({ code: 0, out: expect.stringContaining('No service has failed yet') })
  expect(await t.run('open', 'email-service', '--by', 'ann')).toMatchObject({
    code: 0,
    out: 'The breaker of service "email-service" is open; until it is reset.\n',
  })
  const { out } = await t.run('list')
  expect(out).toMatch(/^SERVICE +STATE +FAILURES +OPENED +NEXT PROBE\n/)
  expect(out).toMatch(/email-service +open +0 of 5 +(now|\d+s ago) +never, reset it/)

  const opened = await t.run('open', 'email-service', '--for', '10m', '--json')
  expect(JSON.parse(opened.out)).toMatchObject({ state: 'open', nextProbeAt: expect.any(String) })
  const listed = await t.run('--json')
  expect(JSON.parse(listed.out)).toMatchObject([{ service: 'email-service', state: 'open', types: [] }])

  expect(await t.run('reset', 'email-service', '--by', 'bob')).toMatchObject({
    code: 0,
    out: 'The breaker of service "email-service" is closed.\n',
  })
  expect(await t.millrace.breakers.get('email-service')).toMatchObject({ state: 'closed' })
})

test('a service that nobody knows, and a time that is none, are refused', async () => {
  await using t = await setup()
  await t.millrace.breakers.trip('email-service', { by: 'ann' })
  const unknown = await t.run('reset', 'email-servce')
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('Did you mean "email-service"?') })
  const never = await t.run('open', 'email-service', '--for', 'ever')
  expect(never).toMatchObject({ code: 1, err: expect.stringContaining('not a duration') })
})
