import { expect, test } from 'vitest'
import { humanLine } from '#src/log'
import { saidBy } from './support/in-process.ts'

const run = (...args: string[]) => saidBy(args)

test('the help lists the commands and shows examples', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  for (const command of [
    'dev',
    'demo',
    'work',
    'migrate',
    'enqueue',
    'stats',
    'queues',
    'workers',
    'jobs',
    'job',
    'history',
    'cancel',
    'fail',
    'retry',
    'prioritise\\|prioritize',
    'dead',
    'workflows',
    'pause',
    'resume',
    'pauses',
    'schedules',
    'tenants',
    'limits',
    'budgets',
    'breakers',
    'escalations',
    'tenant-policies',
    'prune',
    'erase',
    'audit',
    'encryption-keys',
    'keys',
    'psql',
    'types',
  ])
    expect(out).toMatch(new RegExp(`^ {2}${command} .*\\w`, 'm'))
  expect(out).toMatch(/Examples:\n {2}millrace init/)
  expect((await run('dev', '--help')).out).toMatch(/GET \/readyz +200/)
})

test('the version is the package’s', async () => {
  expect(await run('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test('a mistyped command gets a suggestion', async () => {
  expect(await run('wrok')).toMatchObject({ code: 1, err: expect.stringMatching(/Did you mean work\?/) })
})

test('a log line for people is short', () => {
  const json =
    '{"level":40,"time":"2026-01-01T00:00:00.000Z","pid":7,"type":"mail","error":"no route","msg":"job failed"}'
  expect(humanLine(json, false)).toMatch(/^\d\d:\d0:00 WARN {2}job failed {2}type=mail error="no route"$/)
})
