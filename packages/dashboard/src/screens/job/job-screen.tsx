export function JobScreen() {
  return <h1 className="verdict">Job</h1>
}
