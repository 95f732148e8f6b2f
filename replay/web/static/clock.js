// A time as text: by the floor's clock with its offset, and in UTC; only once if they are equal.

export function clockIn(zone) {
  const local = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
    timeZone: zone, timeZoneName: "longOffset", hour12: false,
  });
  return (time) => {
    const utc = new Date(time / 1000).toISOString().slice(11, 23);
    const here = local.format(time / 1000).replace("GMT", "").replace("-", "\u2212").trim();
    return /[+\u2212](?!00:00)/.test(here) ? `${here} (${utc} UTC)` : `${utc} UTC`;
  };
}
