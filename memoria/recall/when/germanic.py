"""Data: time phrases in English, German and Dutch, read by `grammar`."""

from __future__ import annotations

from typing import Final

GERMANIC: Final[dict[str, dict[str, str]]] = {
    "english": {
        "numbers": "a/an/one two/a_couple_of/couple_of/a_couple three four five six seven eight"
        " nine ten eleven twelve",
        "few": "a_few/few/several/some",
        "units": "minute/minutes hour/hours day/days week/weeks month/months quarter/quarters"
        " year/years",
        "weekend": "weekend",
        "weekdays": "monday tuesday wednesday thursday friday saturday sunday",
        "months": "january/jan february/feb march april may june july august/aug"
        " september/sept/sep october/oct november/nov december/dec",
        "seasons": "spring/springtime summer/summertime autumn/fall winter/wintertime",
        "holidays": "christmas_eve christmas/christmas_day/xmas new_year_s_eve/new_years_eve"
        " new_year_s_day/new_years_day/new_year_s/new_year easter valentine_s_day/valentines_day"
        " halloween",
        "days": "the_day_before_yesterday yesterday/yesterday_morning/yesterday_evening"
        "/yesterday_afternoon today/this_morning/this_afternoon/this_evening/tonight"
        " tomorrow the_day_after_tomorrow",
        "night": "last_night",
        "ordinals": "first/1_st second/2_nd third/3_rd fourth/4_th",
        "quarter": "q (?P<qn>[1-4])\n(?:the )?{q} quarter",
        "prev": "(?:the )?(?:last|past|previous) {x}",
        "this": "(?:this|the current) {x}",
        "next": "(?:the )?(?:next|coming) {x}",
        "ago": "{n} {u} ago",
        "past": "(?:the )?(?:last|past|previous) {n} {u}"
        "\n(?:in|over|during|within|for) the (?:last|past) {u}",
        "ahead": "in {n} {u}\n{n} {u} from now",
        "dates": "(?:the )?{d}(?: of)? {m}{y}\n{m}(?: the)? {d}{y}",
        "spans": "{d} (?:-|to|and|until|through) {d2}(?: of)? {m}{y}"
        "\n{m} {d} (?:-|to|and|until|through) {d2}{y}",
        "parts": "(?:early|the beginning of|the start of)\n(?:mid -|mid|the middle of)"
        "\n(?:late|the end of)",
        "first": "(?:the )?first {u} (?:of|in) {m}{y}",
        "final": "(?:the )?last {u} (?:of|in) {m}{y}",
        "week_after": "(?: of)? (?:the )?last week",
        "last_year": "(?: of)? last year",
        "this_year": "(?: of)? this year",
        "of": "(?: of| ,)?",
        "the": "(?:the )?",
        "in": "in|on|at|during|over|around|throughout|from|in about|back in",
        "bare": "{w}(?: (?:morning|afternoon|evening|night))?(?= (?:\\||$))",
        "since": "since|ever since",
        "until": "until|till|up to|up until",
        "before": "before|prior to",
        "after": "after",
        "from": "from",
        "to": "to|until|till|through|-",
        "between": "between",
        "and": "and",
        "never": "every|each|most|some|per|black|good|ash",
        "unless": "(?:(?:in|on|at|from|after|before|since|until|till|around)"
        "|(?:on|at|from|after|before|until|till) the) (?:spring|fall) .",
        "asking": "what happened did do done went going on were was tell show list give everything"
        " anything all things stuff entries entry messages message notes note memories memory"
        " diary journal say said talk talked discuss discussed write wrote written noted record"
        " recorded summary summarize summarise sum up recap events activities happen write hear"
        " back remember recall time work",
    },
    "german": {
        "numbers": "ein/einem/einer/eine/einen zwei drei vier fünf sechs sieben acht neun zehn"
        " elf zwölf",
        "few": "ein_paar/einigen/einige/paar/mehreren",
        "units": "minute/minuten stunde/stunden tag/tage/tagen/tages woche/wochen"
        " monat/monate/monaten/monats quartal/quartale/quartalen/quartals"
        " jahr/jahre/jahren/jahres",
        "weekend": "wochenende/wochenendes/wochenenden",
        "weekdays": "montag/montagabend/montagmorgen dienstag/dienstagabend/dienstagmorgen"
        " mittwoch/mittwochabend/mittwochmorgen donnerstag/donnerstagabend/donnerstagmorgen"
        " freitag/freitagabend/freitagmorgen samstag/sonnabend/samstagabend/samstagmorgen"
        " sonntag/sonntagabend/sonntagmorgen",
        "months": "januar/jänner/jan februar/feber/feb märz april mai juni juli august september"
        " oktober november dezember",
        "seasons": "frühling/frühjahr/frühlings/frühjahrs sommer/sommers herbst/herbstes/herbsts"
        " winter/winters",
        "holidays": "heiligabend/heilig_abend weihnachten/weihnacht silvester"
        " neujahr ostern valentinstag halloween",
        "days": "vorgestern gestern/gestern_abend/gestern_morgen"
        " heute/heute_morgen/heute_abend/heute_früh/heute_nachmittag morgen übermorgen",
        "night": "letzte_nacht/heute_nacht",
        "ordinals": "ersten/erste/erstes/1_. zweiten/zweite/zweites/2_. dritten/dritte/drittes/3_."
        " vierten/vierte/viertes/4_.",
        "quarter": "q (?P<qn>[1-4])\n(?:das |im |des )?{q} quartal",
        "prev": "(?:letzte|vorige|vergangene)[nrsm]? {x}",
        "this": "diese[nrsm]? {x}",
        "next": "(?:nächste|kommende)[nrsm]? {x}",
        "ago": "vor {n} {u}",
        "past": "(?:letzte|vergangene)[nr]? {n} {u}",
        "ahead": "in {n} {u}",
        "dates": "{d} {m}{y}",
        "spans": "{d} (?:-|bis|bis zum|und|und dem) {d2} {m}{y}",
        "parts": "(?:anfang|beginn)\nmitte\nende",
        "first": "(?:der |die |das |den )?erste[nrs]? {u}(?: im| des)? {m}{y}",
        "final": "(?:der |die |das |den )?letzte[nrs]? {u}(?: im| des)? {m}{y}",
        "week_after": " (?:der )?(?:letzte|vorige|vergangene)[nr]? woche",
        "last_year": " (?:des )?(?:letzte|vorige|vergangene)[ns] jahres",
        "this_year": " (?:dieses|diesen) jahres",
        "of": "(?: ,| im jahr| im jahre)?",
        "the": "(?:dem |der |den |das |die )?",
        "in": "im|in|am|an|zu|während|vom|von|über|übers|im jahr|im jahre|in den|aus",
        "bare": "{w}",
        "since": "seit|ab|seit dem|ab dem|seit anfang",
        "until": "bis|bis zum|bis zu|bis ende",
        "before": "vor|vor dem",
        "after": "nach|nach dem",
        "from": "von|vom",
        "to": "bis|bis zum|-",
        "between": "zwischen|zwischen dem",
        "and": "und|und dem",
        "never": "goede|jeden|jede|jedes|jeder|guten|am|gestern|heute",
        "unless": "",
        "asking": "passiert geschehen geschah erlebt los unternommen getan notiert geschrieben"
        " schrieb gesprochen sprachen besprochen erzählt erzähle erzähl zeig zeige alles was"
        " einträge eintrag notizen nachrichten tagebuch fasse zusammen zusammenfassung ereignisse",
    },
    "dutch": {
        "numbers": "een/één twee/een_paar drie vier vijf zes zeven acht negen tien elf twaalf",
        "few": "enkele/enige/een_aantal",
        "units": "minuut/minuten uur/uren dag/dagen week/weken maand/maanden"
        " kwartaal/kwartalen jaar/jaren",
        "weekend": "weekend/weekeinde",
        "weekdays": "maandag/maandagavond/maandagochtend dinsdag/dinsdagavond/dinsdagochtend"
        " woensdag/woensdagavond/woensdagochtend donderdag/donderdagavond/donderdagochtend"
        " vrijdag/vrijdagavond/vrijdagochtend zaterdag/zaterdagavond/zaterdagochtend"
        " zondag/zondagavond/zondagochtend",
        "months": "januari februari maart april mei juni juli augustus september oktober november"
        " december",
        "seasons": "lente/voorjaar zomer herfst/najaar winter",
        "holidays": "kerstavond kerst/kerstmis/kerstdag oudejaarsavond/oud_en_nieuw nieuwjaar"
        "/nieuwjaarsdag pasen valentijnsdag halloween",
        "days": "eergisteren gisteren/gisteravond/gisterochtend/gistermiddag"
        " vandaag/vanochtend/vanmorgen/vanmiddag/vanavond morgen overmorgen",
        "night": "vannacht/afgelopen_nacht",
        "ordinals": "eerste/1_e tweede/2_e derde/3_e vierde/4_e",
        "quarter": "(?:q|k) (?P<qn>[1-4])\n(?:het )?{q} kwartaal",
        "prev": "(?:de |het )?(?:vorig|vorige|afgelopen|laatste|verleden) {x}",
        "this": "(?:deze|dit) {x}",
        "next": "(?:de |het )?(?:volgend|volgende|komend|komende) {x}",
        "ago": "{n} {u} (?:geleden|terug)",
        "past": "(?:de |het )?(?:afgelopen|laatste|voorbije) {n} {u}",
        "ahead": "over {n} {u}",
        "dates": "{d} {m}{y}",
        "spans": "{d} (?:-|tot|tot en met|en) {d2} {m}{y}",
        "parts": "(?:begin|begin van)\n(?:medio|half|midden)\n(?:eind|einde|eind van)",
        "first": "(?:de |het )?eerste {u} van {m}{y}",
        "final": "(?:de |het )?laatste {u} van {m}{y}",
        "week_after": " (?:van )?vorige week",
        "last_year": " (?:van )?(?:vorig|afgelopen|verleden) jaar",
        "this_year": " (?:van )?dit jaar",
        "of": "(?: van| ,)?",
        "the": "(?:de |het )?",
        "in": "in|op|tijdens|met|rond|gedurende|van|uit|in het jaar",
        "bare": "{w}",
        "since": "sinds|vanaf|sedert",
        "until": "tot|tot aan|tot en met",
        "before": "voor|vóór",
        "after": "na",
        "from": "van",
        "to": "tot|tot en met|t / m|-",
        "between": "tussen",
        "and": "en",
        "never": "guten|elke|ieder|iedere|goede|elk",
        "unless": "",
        "asking": "gebeurd gebeurde gedaan deed deden beleefd gezegd besproken gesproken"
        " geschreven genoteerd vertel vertelde toon laat zien alles notities berichten dagboek"
        " samenvatting samenvatten vat samen gebeurtenissen",
    },
}
