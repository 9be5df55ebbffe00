import { Link } from '../../ui/link.tsx'
import { QueueName } from '../../ui/names.tsx'
import { counted, formatNumber } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { firstLine } from './group-table.tsx'
import { type Facts, type Group, reasonOf } from './groups.ts'

const SHORT = 110

export function FailureHead({ group, facts }: { group: Group; facts: Facts }) {
  const { pending, sampleMessage, firstDiedAt, lastDiedAt } = group
  const line = firstLine(sampleMessage)
  const decided = facts.retried + facts.resolved + facts.ignored
  return (
    <>
      <nav className="crumbs" aria-label="Where you are">
        <ol>
          <li>
            <Link to="/failures">Failures</Link>
          </li>
          <li className="mono">{facts.fingerprint}</li>
        </ol>
      </nav>
      <Verdict
        facts={[
          <QueueName key="queue" name={facts.queue} />,
          reasonOf(facts.reason),
          lastDiedAt && (
            <>
              last died <RelativeTime at={lastDiedAt} />, first <RelativeTime at={firstDiedAt} />
            </>
          ),
          decided > 0 &&
            `${formatNumber(facts.retried)} redriven, ${formatNumber(facts.resolved)} resolved, ${formatNumber(facts.ignored)} ignored before`,
        ]}
      >
        {pending === 0 ? (
          <>
            No letter of {facts.type} that failed like this <Em tone="ok">waits any more</Em>.
          </>
        ) : (
          <>
            <Em tone="fail">{counted(pending, `${facts.type} job`)}</Em> died of “
            {line.length > SHORT ? `${line.slice(0, SHORT)} …` : line}”, and {pending === 1 ? 'waits' : 'wait'} for a
            decision.
          </>
        )}
      </Verdict>
    </>
  )
}
