import { expect, test } from 'vitest'
import { fixture, ran } from './support/program.ts'

const types = (args: string[], env: Record<string, string> = {}) => ran(['types', ...args], env)

test('types lists the job types of a workload without starting it', async () => {
  const { code, out, err } = await types([fixture('post.js')])
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(out).toBe(
    [
      'TYPE    QUEUE  VERSION  ATTEMPTS  TIMEOUT     TENANT            DEDUPE  HANDLER',
      'letter  mail   2        3         30 s        optional          by key  yes',
      "audit   orgs   1        5         the lane's  required          no      none",
      "bill    orgs   1        5         the lane's  from the payload  no      none",
      '',
    ].join('\n'),
  )
})

test('--examples prints what fits with its warnings, and says what has none', async () => {
  const { code, out } = await types([fixture('post.js'), '--examples'], { GOOD: '1' })
  expect(code).toBe(0)
  expect(out).toMatch(/\nletter\n {2}1 {2}\{"to":"ann","token":"abc"\}\n {5}warning: token may be a secret/)
  expect(out).toMatch(/\naudit: no examples\n/)
})

test('--examples ends with code 1 and a line for each that does not fit, and shows no secret', async () => {
  const { code, out, err } = await types([fixture('post.js'), '--examples'])
  expect(code).toBe(1)
  expect(err).toMatch(/^error: Example 2 of letter does not fit\. The payload of job "letter" is not valid: to: /m)
  expect(err).toMatch(/^error: Example 3 of letter does not fit\. The payload .* carries a secret at password/m)
  expect(out).toMatch(/ {2}1 {2}\{"to":"ann"\}\n {2}2 {2}does not fit/)
  expect(out + err).not.toContain('hunter2')
})

test('--json prints one document', async () => {
  const { code, out } = await types([fixture('post.js'), '--examples', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    workload: 'post',
    types: [
      {
        type: 'letter',
        queue: 'mail',
        version: 2,
        attempts: 3,
        timeoutMs: 30_000,
        tenant: 'optional',
        isDeduplicated: true,
        hasHandler: true,
        examples: [
          { payload: { to: 'ann' }, warnings: [] },
          { problem: expect.any(String) },
          { problem: expect.any(String) },
        ],
      },
      { type: 'audit', tenant: 'required', isDeduplicated: false, hasHandler: false, examples: [] },
      { type: 'bill', tenant: 'from the payload' },
    ],
  })
  expect(out).not.toContain('hunter2')
  expect(JSON.parse((await types([fixture('post.js'), '--json'])).out).types[0]).not.toHaveProperty('examples')
})

test('a module without a workload is refused with what was expected', async () => {
  expect(await types([fixture('no-workload.js')])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no workload in it/),
  })
})
