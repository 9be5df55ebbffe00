// Attempts side by side: a sentence says what changed, the table shows only that, and what is the same is folded away.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Link } from '../../ui/link.tsx'
import { ownFrames, StackBlock } from '../../ui/stack-block.tsx'
import { formatDuration, listed } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { JobDetails } from './actions.tsx'
import { Logs } from './logs.tsx'

type Attempt = JobDetails['attempts'][number]

interface Fact {
  readonly name: string
  /** Told in sentences: "the error". */
  readonly noun: string
  readonly before: string
  readonly after: string
  /** A fingerprint leads to its failures. */
  readonly isFingerprint?: boolean
}

export function Attempts({ job }: { job: JobDetails }) {
  const { attempts } = job
  const [shown, setShown] = useState<number | null>(null)
  if (attempts.length === 0) return null
  const at = Math.min(shown ?? attempts.length - 1, attempts.length - 1)
  const after = attempts[at] as Attempt
  const before = attempts[at - 1]
  return (
    <>
      <section className="panel" aria-labelledby="attempts">
        <div className="ph">
          <h2 id="attempts">{attempts.length === 1 ? 'The failed attempt' : 'Attempts side by side'}</h2>
          {attempts.length > 2 && (
            <label className="note inline">
              Attempt{' '}
              <select className="inp" value={at} onChange={(event) => setShown(Number(event.target.value))}>
                {attempts.map(({ attempt, runId }, index) => (
                  <option key={runId} value={index} disabled={index === 0}>
                    {index === 0 ? attempt : `${attempts[index - 1]?.attempt} and ${attempt}`}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
        {before === undefined ? <Single attempt={after} /> : <Compared before={before} after={after} />}
      </section>
      <section className="panel" aria-labelledby="error">
        <div className="ph">
          <h2 id="error">Error of attempt {after.attempt}</h2>
          {after.fingerprint && (
            <Link to={`/failures/${encodeURIComponent(after.fingerprint)}`}>all failures like it</Link>
          )}
        </div>
        <p className="error-line">
          <b>{after.errorClass}</b>: {firstLine(after.errorMessage)}
        </p>
        {(after.errorStack ?? after.errorMessage).includes('\n') && (
          <StackBlock
            label={`Stack of attempt ${after.attempt}`}
            caption="stack"
            text={after.errorStack ?? after.errorMessage}
            height={280}
          />
        )}
      </section>
      <Logs logs={after.logs} title={`Logs of attempt ${after.attempt}`} since={after.startedAt} />
    </>
  )
}

function Single({ attempt }: { attempt: Attempt }) {
  const workers = useWorkers()
  return (
    <dl className="kv">
      {factsBetween(attempt, attempt, workers)
        .filter(({ name }) => name !== 'error')
        .map(({ name, after }) => (
          <div key={name} className="row-kv">
            <dt>{name}</dt>
            <dd>{after}</dd>
          </div>
        ))}
    </dl>
  )
}

function Compared({ before, after }: { before: Attempt; after: Attempt }) {
  const facts = factsBetween(before, after, useWorkers())
  const changed = facts.filter((fact) => fact.before !== fact.after)
  const same = facts.filter((fact) => fact.before === fact.after)
  return (
    <>
      <p className="changed">{sentenceOf(changed, same)}</p>
      {changed.length > 0 && (
        <table className="cmp">
          <caption className="vh">
            What differs between attempt {before.attempt} and attempt {after.attempt}
          </caption>
          <thead>
            <tr>
              <td />
              <th scope="col">
                attempt {before.attempt} · <RelativeTime at={before.startedAt ?? before.finishedAt} as="moment" />
              </th>
              <th scope="col">
                attempt {after.attempt} · <RelativeTime at={after.startedAt ?? after.finishedAt} as="moment" />
              </th>
            </tr>
          </thead>
          <tbody>
            {changed.map((fact) => (
              <tr key={fact.name}>
                <th scope="row">{fact.name}</th>
                <td className="was">{fact.before}</td>
                <td>{fact.after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {same.length > 0 && (
        <details>
          <summary>The same in both: {listed(same.map(({ name }) => name))}</summary>
          <dl className="kv">
            {same.map(({ name, after: value }) => (
              <div key={name} className="row-kv">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

function sentenceOf(changed: readonly Fact[], same: readonly Fact[]): string {
  // The fingerprint leaves out numbers and ids: with the same one, it is the same failure.
  const isAlike = same.some(({ name }) => name === 'fingerprint')
  const isNews = changed.filter(({ name }) => name !== 'took' && !(isAlike && name === 'error'))
  if (isNews.length === 0)
    return `Both failed in the same way, at the same place, on the same worker${isAlike && changed.some(({ name }) => name === 'error') ? '; only details of the message differ' : ''}.`
  const isSameError = isAlike || !changed.some(({ name }) => name === 'error' || name === 'thrown at')
  const nouns = isNews.map(({ noun }) => noun)
  const text = `${listed(nouns)} changed between the two`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${isSameError ? '; the failure is the same.' : '.'}`
}

type Workers = ReadonlyMap<string, { host: string; pid: number; version: string }>

/** Those that live. Of others only the id is known. */
function useWorkers(): Workers {
  const may = useMay()
  const { data } = useQuery({ ...ask('workers', 'list', {}), enabled: may('workers.list'), staleTime: 10_000 })
  return new Map(data?.workers.map((worker) => [worker.id, worker]))
}

function factsBetween(before: Attempt, after: Attempt, workers: Workers): Fact[] {
  const fact = (name: string, noun: string, of: (attempt: Attempt) => string | null): Fact[] => {
    const [left, right] = [of(before), of(after)]
    return left === null && right === null ? [] : [{ name, noun, before: left ?? 'unknown', after: right ?? 'unknown' }]
  }
  const workerOf = ({ workerId }: Attempt) => {
    const known = workerId === null ? undefined : workers.get(workerId)
    return known ? `${known.host}, process ${known.pid}` : workerId && `…${workerId.slice(-12)}`
  }
  return [
    ...fact('version', 'the version of the program', ({ workerId }) => workers.get(workerId ?? '')?.version ?? null),
    ...fact('worker', 'the worker', workerOf),
    ...fact('error', 'the error', ({ errorClass, errorMessage }) => `${errorClass}: ${firstLine(errorMessage)}`),
    ...fact('thrown at', 'the place where it is thrown', ({ errorStack }) => firstFrame(errorStack)),
    ...fact('fingerprint', 'the fingerprint', ({ fingerprint }) => fingerprint),
    ...fact('took', 'its length', ({ startedAt, finishedAt }) =>
      startedAt === null ? null : formatDuration(Date.parse(finishedAt) - Date.parse(startedAt)),
    ),
  ]
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 500) ?? ''

/** The first frame of the program itself: 'connect, smtp-client.ts:64'. */
function firstFrame(stack: string | null): string | null {
  const own = ownFrames(stack ?? '')
    .text.split('\n')
    .find((line) => /^\s*at /.test(line))
  return own === undefined ? null : own.trim().replace(/^at /, '').slice(0, 200)
}
