export function QueuesScreen() {
  return <h1 className="verdict">Queues</h1>
}
