import { expect, test } from 'vitest'
import { ConfigurationUnusable } from '#src/config/problems'
import { readConfig } from '#src/config/read'
import { standsOf } from '#src/outside/services'
import { config } from './support/setup.ts'

const problems = (text: string, env: Record<string, string> = {}): string => {
  try {
    readConfig({ text, env: { VILLAGE_CONFIG: 'application.yaml', ...env } })
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationUnusable)
    return (error as Error).message
  }
  throw new Error('The configuration was accepted.')
}

test('the file of the repository has the numbers of the queue matrix', () => {
  const { jobs } = readConfig({ env: {} })
  expect(jobs).toMatchObject({
    ...{ baseDelay: 30, maxAttempts: 5, aiTagging: { monthlyBudget: 500 } },
    workers: { high: 20, default: 10, screenshot: 3, low: 5, bulk: 8 },
    pollInterval: { high: 5, default: 10, screenshot: 10, low: 30, bulk: 60 },
  })
})

test('an unknown key is told with its line and a suggestion', () => {
  const told = problems('villagecompute:\n  jobs:\n    base-dealy: 30\n')
  expect(told).toContain('application.yaml:3')
  expect(told).toContain('base-delay')
})

test('three mistakes are told at once, each with its line', () => {
  const told = problems(
    'villagecompute:\n  jobs:\n    base-delay: soon\n    workers:\n      high: 0\n  feeds:\n    timeot: 30\n',
  )
  for (const line of [3, 5, 7]) expect(told).toContain(`application.yaml:${line}`)
})

test('a variable named like a key wins over the file, and is named when it is wrong', () => {
  expect(config({ VILLAGECOMPUTE_JOBS_BASE_DELAY: '1' }).jobs.baseDelay).toBe(1)
  expect(problems('villagecompute: {}\n', { VILLAGECOMPUTE_JOBS_BASE_DELAY: 'soon' })).toContain(
    'VILLAGECOMPUTE_JOBS_BASE_DELAY',
  )
})

test('a service without its key is the sandbox under dev, and a start error under work that names what is missing', () => {
  const plain = readConfig({ env: {} })
  const dev = standsOf(plain, { mode: 'dev', queues: ['HIGH', 'DEFAULT', 'BULK'] })
  expect(new Set(Object.values(dev))).toEqual(new Set(['sandbox']))
  const work = () => standsOf(plain, { mode: 'work', queues: ['DEFAULT'] })
  for (const name of ['SLACK_OPS_WEBHOOK', 'PAGERDUTY_INTEGRATION_KEY', 'NWS_USER_AGENT']) expect(work).toThrow(name)
  expect(work).not.toThrow('ANTHROPIC_API_KEY')
  expect(() => standsOf(plain, { mode: 'admin', queues: [] })).not.toThrow()
})
