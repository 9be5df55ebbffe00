// docs/ops/ai-budget-management.md: its commands run as they stand there, by the real curl, psql and millrace.
import { readFileSync } from 'node:fs'
import { runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { villageMetrics } from '#src/telemetry/metrics'
import { blocks, root } from '../../../test/support/document.ts'
import { addItems, addSource, setMonth } from './support/articles.ts'
import { hasPrograms, one, serve } from './support/guide.ts'
import { setup } from './support/setup.ts'

const GUIDE = 'docs/ops/ai-budget-management.md'
const text = readFileSync(`${root}${GUIDE}`, 'utf8')
if (!hasPrograms) console.warn(`SKIPPED: curl or psql is not installed, so the commands of ${GUIDE} are not tested.`)

const shell = blocks(GUIDE, 'sh')
const sql = blocks(GUIDE, 'sql')

describe.skipIf(!hasPrograms)('the guide to the budget', () => {
  test('its commands work without a token on this machine', async () => {
    await using t = await setup()
    await using server = await serve(t, { isDevelopment: true })
    await addItems(t, [{ source: await addSource(t, 'Gazette') }])
    // A worker declares the budget to programs that do not know its code, such as the command line.
    await t.work()
    await t.millrace.result((await t.millrace.enqueue(t.parts.contracts.AI_TAGGING, {})).id)
    const answers: unknown[] = []
    for (const block of shell.filter((each) => each.startsWith('curl')))
      answers.push(JSON.parse(await server.sh(block, { ADMIN_TOKEN: '' })))
    expect(answers).toMatchObject([
      { provider: 'anthropic', totalRequests: 1, budgetAction: 'NORMAL' },
      { months: [{ bySource: [{ name: 'Gazette', calls: 1 }] }] },
      { budgetLimitCents: 50_000 },
      { status: 'queued', job_type: 'AI_TAGGING', queue: 'BULK' },
      { month: '2025-01', budgetLimitCents: 75_000, isCurrent: false },
    ])
    const budgets = await server.sh(one(shell, 'budgets usage'))
    expect(budgets).toContain('ai-tagging')
    expect(budgets).toContain('AI_TAGGING')
  })

  test('with tokens, calls without one are refused, and so is a change by a viewer', async () => {
    await using t = await setup()
    await using server = await serve(t, { isDevelopment: true })
    const token = async (role: 'viewer' | 'operator') =>
      (await t.millrace.tokens.create({ name: role, role, by: 'test' })).secret
    const [viewer, operator] = [await token('viewer'), await token('operator')]
    const [usage, change] = [one(shell, '/admin/api/ai-usage\n'), one(shell, 'PATCH')]
    await expect(server.sh(usage, { ADMIN_TOKEN: '' })).rejects.toMatchObject({
      stdout: expect.stringContaining('401'),
    })
    expect(JSON.parse(await server.sh(usage, { ADMIN_TOKEN: viewer }))).toMatchObject({ budgetLimitCents: 50_000 })
    await expect(server.sh(change, { ADMIN_TOKEN: viewer })).rejects.toMatchObject({
      stdout: expect.stringContaining('403'),
    })
    expect(JSON.parse(await server.sh(change, { ADMIN_TOKEN: operator }))).toMatchObject({ budgetLimitCents: 75_000 })
  })

  test('its queries run in psql, and say what they are to say', async () => {
    await using t = await setup()
    await using server = await serve(t, { isDevelopment: true })
    await addItems(t, 3)
    t.sandbox.anthropic.faults.push('invalid')
    await runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
    const answers = new Map<string, string>()
    for (const block of sql) answers.set(block, await server.psql(block))
    const answer = (part: string) => answers.get(one(sql, part))
    expect(answer('GROUP BY tag_failures')).toMatch(/^1\|1\|20/)
    expect(
      answer('GROUP BY outcome')
        ?.split('\n')
        .map((line) => line.split('|').slice(0, 2).join(' ')),
    ).toEqual(expect.arrayContaining(['invalid 1', 'tagged 2']))
    expect(answer('COUNT(*) FROM feed_items WHERE ai_tagged = false')).toBe('1')
    expect(answer('jsonb_array_elements_text')).toContain('Politics|2')
    expect(answer('GROUP BY source.name')).toMatch(/^Gazette\|3\|/)
  })

  test('the emergency reset lets the next run proceed, without a restart', async () => {
    await using t = await setup()
    await using server = await serve(t, { isDevelopment: true })
    await addItems(t, 1)
    await setMonth(t, { limitCents: 500, spentCents: 500 })
    const tag = () => runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
    expect(await tag()).toMatchObject({ outcome: 'cancelled' })
    await server.psql(one(sql, 'SET estimated_cost_cents = 0'))
    expect(await tag()).toMatchObject({ outcome: 'completed', result: { tagged: 1 } })
  })
})

test('the guide names every metric of tagging', () => {
  const names = villageMetrics.map(({ name }) => name).filter((name) => name.startsWith('ai_'))
  expect(names).toHaveLength(7)
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
