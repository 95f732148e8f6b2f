// A time as text: by the house's clock, with its offset; `UTC` for none.

export function clockIn(zone) {
  const local = localIn(zone);
  return (time) => {
    const here = local(time / 1000).replace("-", "\u2212").trim();
    return /[+\u2212](?!00:00)/.test(here) ? here : `${here.split(" ")[0]} UTC`;
  };
}

// A zone is a named one or an offset alone, such as UTC-05:00, which not all browsers know as a zone.
function localIn(zone) {
  const alone = /^UTC([+-])(\d\d):(\d\d)$/.exec(zone);
  if (alone) {
    const [, sign, hours, minutes] = alone;
    const ahead = (sign === "-" ? -1 : 1) * (hours * 60 + Number(minutes)) * 60000;
    return (ms) => `${new Date(ms + ahead).toISOString().slice(11, 23)} ${zone.slice(3)}`;
  }
  const local = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
    timeZone: zone, timeZoneName: "longOffset", hour12: false,
  });
  return (ms) => local.format(ms).replace("GMT", "");
}
