// The verdict on the dead letters, in a sentence.
import { capitalised, counted, formatNumber, spelt } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import type { Group } from './groups.ts'

export function FailuresVerdict({
  groups,
  isPending,
  isCut,
}: {
  groups: readonly Group[]
  isPending: boolean
  isCut: boolean
}) {
  if (isPending) return <Verdict facts={['…']}>Reading the dead letters</Verdict>
  if (groups.length === 0)
    return (
      <Verdict facts={['Letters that were decided about are kept for seven days.']}>
        No dead letter <Em tone="ok">waits for a decision</Em>.
      </Verdict>
    )
  const letters = groups.reduce((sum, { pending }) => sum + pending, 0)
  const lastHour = groups.reduce((sum, { facts }) => sum + (facts?.byHour.at(-1) ?? 0), 0)
  const facts = [
    `${formatNumber(letters)}${isCut ? '+' : ''} dead letters in ${counted(groups.length, 'group')}${isCut ? ', the largest' : ''}`,
    `${counted(lastHour, 'death')} in the last hour`,
    'pending letters are kept until you decide',
  ]
  return <Verdict facts={facts}>{sentence(groups, letters)}</Verdict>
}

function sentence(groups: readonly Group[], letters: number) {
  const fresh = groups.filter(({ state }) => state === 'new')
  const redriving = groups.find(({ state }) => state === 'redriving')
  const [largest] = groups
  return (
    <>
      {fresh.length === 0 ? (
        <>
          {capitalised(spelt(groups.length))} {groups.length === 1 ? 'kind' : 'kinds'} of failure wait, and somebody
          looks after all of them.
        </>
      ) : (
        <>
          {capitalised(spelt(fresh.length))} {fresh.length === 1 ? 'kind of failure is' : 'kinds of failure are'}{' '}
          <Em tone="fail">new</Em>
          {largest && letters > 20 && largest.pending > letters / 2 && largest.state !== 'redriving' ? (
            <>
              : {largest.type} alone has {formatNumber(largest.pending)} letters.
            </>
          ) : (
            '.'
          )}
        </>
      )}
      {redriving && (
        <>
          {' '}
          {redriving.type} is <Em tone="ok">being redriven</Em>.
        </>
      )}
    </>
  )
}
