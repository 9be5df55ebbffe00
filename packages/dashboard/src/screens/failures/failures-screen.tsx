export function FailuresScreen() {
  return <h1 className="verdict">Failures</h1>
}
