// The newest letter as an example, whole.
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../data/queries.ts'
import { Card } from '../../ui/card.tsx'
import { CodeBlock, JsonBlock } from '../../ui/code-block.tsx'
import { JobId, TenantName } from '../../ui/names.tsx'
import { StackBlock } from '../../ui/stack-block.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { Facts, Group } from './groups.ts'

export function Example({ group: { newestId }, facts }: { group: Group; facts: Facts }) {
  const { data, error, refetch } = useQuery({
    ...ask('deadLetters', 'get', { id: newestId }),
    enabled: newestId !== '',
  })
  if (newestId === '') return null
  if (error) return <ErrorState what="The newest letter could not be read." error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={240} />
  const payload = (data.originalJob as { payload?: unknown } | undefined)?.payload
  const stack = data.errorDetails?.stack
  return (
    <Card
      title="The newest of them"
      aside={
        <span className="note">
          job <JobId id={data.jobId} /> of <TenantName name={data.tenant} />, died <RelativeTime at={data.diedAt} /> at
          attempt {data.attempts}
        </span>
      }
    >
      <CodeBlock
        label={`Error of ${facts.type}`}
        caption={data.errorClass ?? 'Error'}
        text={data.errorMessage}
        height={200}
      />
      {stack && (
        <details className="fold">
          <summary>Stack</summary>
          <StackBlock label="Stack" text={stack} height={320} />
        </details>
      )}
      {payload !== undefined && (
        <details className="fold">
          <summary>Payload</summary>
          <JsonBlock label="Payload" value={payload} height={320} />
        </details>
      )}
    </Card>
  )
}
