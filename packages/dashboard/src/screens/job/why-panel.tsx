// Why is it not running: what holds it, who holds what it waits for, what does not hold it, and what would help.
import { Card } from '../../ui/card.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/link.tsx'
import { useQueueClass } from '../../ui/queue-colour.ts'
import { spelt } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { JobDetails } from './actions.tsx'
import type { Explanation } from './estimate.ts'
import { ExpectedStart } from './expected-start.tsx'
import { Holders } from './holders.tsx'
import { Prose } from './prose.tsx'
import { Remedies } from './remedies.tsx'

/** What does not hold it, if its mechanism is not among the reasons. */
const CHECKS: readonly (readonly [mechanisms: readonly string[], says: string])[] = [
  [['due'], 'it is due'],
  [['worker'], 'a worker can run it'],
  [['pause'], 'nothing is paused'],
  [['tenant'], 'its tenant is active'],
  [['share'], 'its tenant has slots left'],
  [['limit'], 'no limit is reached'],
  [['rate'], 'no rate is used up'],
  [['breaker'], 'no breaker is open'],
  [['budget'], 'no budget holds it'],
  [['order', 'key_limit'], 'no job of its key comes first'],
  [['version'], 'its payload version is known'],
  [['overload', 'memory'], 'no worker is overloaded'],
  [['quiet', 'suspect', 'semaphore'], 'its workers take jobs'],
]

export function WhyPanel({ job, why }: { job: JobDetails; why: Explanation }) {
  const queueClass = useQueueClass(job.queue)
  const held = new Set(why.reasons.map(({ mechanism }) => mechanism))
  const clear = CHECKS.filter(([mechanisms]) => !mechanisms.some((each) => held.has(each)))
  return (
    <section className={`panel edge why ${queueClass}`} aria-labelledby="why">
      <div>
        <div className="ph">
          <h2 id="why">Why is it not running?</h2>
          <span className="note">
            {why.reasons.length === 0
              ? 'nothing holds it but the queue'
              : `${spelt(held.size)} of ${CHECKS.length} conditions ${held.size === 1 ? 'holds' : 'hold'} it`}
          </span>
        </div>
        <ul className="reasons">
          {why.reasons.length === 0 && (
            <li className="lead">
              <Prose text={why.summary} />
            </li>
          )}
          {why.reasons.map(({ mechanism, sentence, until }) => (
            <li key={`${mechanism} ${sentence}`} className="lead">
              <Prose text={sentence} />
              {until !== null && (
                <span className="note">
                  {' '}
                  It ends by itself <RelativeTime at={until} />.
                </span>
              )}
            </li>
          ))}
        </ul>
        {why.workflow && (
          <p>
            It is step <b>{why.workflow.step}</b> of workflow{' '}
            <Link to={`/workflows/${why.workflow.id}`}>
              {why.workflow.name} {why.workflow.id}
            </Link>
            . <Prose text={why.workflow.sentence} />
          </p>
        )}
        <Holders job={job} why={why} />
      </div>
      <div>
        <h3 className="dim">Expected start</h3>
        <ExpectedStart job={job} why={why} />
        <Remedies job={job} why={why} />
        <CommandLine command={why.reasons.find(({ remedy }) => remedy)?.remedy ?? `millrace explain ${job.id}`} />
        <p className="note">
          <code>millrace explain {job.id}</code> prints this panel.
        </p>
      </div>
      <footer>
        <ul className="checks" aria-label="Conditions that do not hold it">
          {clear.map(([, says]) => (
            <li key={says}>
              <Icon name="ok" />
              {says}
            </li>
          ))}
        </ul>
        {why.unknown.map((sentence) => (
          <p key={sentence} className="note">
            <Prose text={sentence} />
          </p>
        ))}
      </footer>
    </section>
  )
}

/** For a job that has ended or runs: its summary, in the same place. */
export const SummaryPanel = ({ text }: { text: string }) => (
  <Card title="How it stands">
    <p className="lead">
      <Prose text={text} />
    </p>
  </Card>
)
